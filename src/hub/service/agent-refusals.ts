// What the hub refused to each of its agents last, and why. It is in memory alone, of this hub alone where several share a
// vault: agents ask again, so a hub that was restarted knows it again within minutes. docs/protocol.md API-120, LIM-80.

import type { Clock } from '../../platform/clock.ts'
import { copyBeginning } from '../../platform/copy-beginning.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { AgentId } from '../../protocol/identifiers.ts'

export interface RefusedRequest {
  readonly code: WireErrorCode
  /** Of the table of routes; `other` for a request that has none. */
  readonly operation: string
  readonly reason: string
  readonly requestId: string
  /** As the agent named it; null when the request was about none. */
  readonly deliveryId: string | null
}

/** Requests of one kind that were refused on end are one: an agent tries again every minute. */
export interface AgentRefusal extends RefusedRequest {
  readonly at: Date
  /** The first one of its kind. */
  readonly since: Date
  readonly times: number
}

export interface AgentRefusals {
  note(agentId: AgentId, refused: RefusedRequest): void
  /** The last one first. */
  list(agentId: AgentId): readonly AgentRefusal[]
  /** Whose request it was, of those that are remembered. */
  findRequest(requestId: string): AgentId | undefined
}

export const REFUSALS_MAX = 8
const AGENTS_MAX = 20_000
const REASON_CHARACTERS_MAX = 300
const DELIVERY_CHARACTERS_MAX = 64

export function createAgentRefusals(
  clock: Pick<Clock, 'now'>,
  agentsMax: number = AGENTS_MAX,
): AgentRefusals {
  // In the order of the last refusal.
  const refusals = new Map<AgentId, readonly AgentRefusal[]>()
  return {
    note: (agentId, refused) => {
      const at = clock.now()
      const known = refusals.get(agentId) ?? []
      const bounded = boundRefused(refused)
      const before = known.find((one) => isAlike(one, bounded))
      const refusal = {
        ...bounded,
        at,
        since: before?.since ?? at,
        times: (before?.times ?? 0) + 1,
      }
      refusals.delete(agentId)
      refusals.set(
        agentId,
        [refusal, ...known.filter((one) => one !== before)].slice(0, REFUSALS_MAX),
      )
      const [oldest] = refusals.keys()
      if (refusals.size > agentsMax && oldest !== undefined) refusals.delete(oldest)
    },
    list: (agentId) => refusals.get(agentId) ?? [],
    findRequest: (requestId) => {
      for (const [agentId, known] of refusals) {
        if (known.some((refusal) => refusal.requestId === requestId)) return agentId
      }
      return undefined
    },
  }
}

function boundRefused(refused: RefusedRequest): RefusedRequest {
  return {
    ...refused,
    reason: copyBeginning(refused.reason, REASON_CHARACTERS_MAX),
    deliveryId:
      refused.deliveryId === null
        ? null
        : copyBeginning(refused.deliveryId, DELIVERY_CHARACTERS_MAX),
  }
}

function isAlike(one: RefusedRequest, other: RefusedRequest): boolean {
  return (
    one.code === other.code &&
    one.operation === other.operation &&
    one.deliveryId === other.deliveryId
  )
}
