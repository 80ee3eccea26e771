// Why deliveries wait: what the hub last answered an agent that asked for their certificate and got none. It is in memory
// alone, since agents ask again: a hub that was restarted knows it again within a few minutes. docs/protocol.md API-70.

import { copyBeginning } from '../../platform/copy-beginning.ts'
import type { DeliveryId } from '../../protocol/identifiers.ts'

export interface WaitingReason {
  readonly text: string
  readonly at: Date
}

export interface WaitingReasons {
  note(deliveryId: DeliveryId, text: string, at: Date): void
  /** It waits no longer. */
  forget(deliveryId: DeliveryId): void
  find(deliveryId: DeliveryId): WaitingReason | undefined
  /** How many wait for the same reason; at most `limit` reasons, the most frequent first. */
  group(limit: number): WaitingGroup[]
}

export interface WaitingGroup {
  readonly reason: string
  readonly count: number
  /** The one that was refused last. */
  readonly example: DeliveryId
}

const CHARACTERS_MAX = 300
const DELIVERIES_MAX = 20_000

export function createWaitingReasons(deliveriesMax = DELIVERIES_MAX): WaitingReasons {
  // In the order of the last answer.
  const reasons = new Map<DeliveryId, WaitingReason>()
  return {
    note: (deliveryId, text, at) => {
      reasons.delete(deliveryId)
      reasons.set(deliveryId, { text: copyBeginning(text, CHARACTERS_MAX), at })
      const [oldest] = reasons.keys()
      if (reasons.size > deliveriesMax && oldest !== undefined) reasons.delete(oldest)
    },
    forget: (deliveryId) => void reasons.delete(deliveryId),
    find: (deliveryId) => reasons.get(deliveryId),
    group: (limit) => {
      const groups = new Map<string, { count: number; example: DeliveryId }>()
      for (const [example, { text }] of reasons) {
        const count = groups.get(text)?.count ?? 0
        groups.set(text, { count: count + 1, example })
      }
      return Array.from(groups, ([reason, group]) => ({ reason, ...group }))
        .toSorted((one, other) => other.count - one.count)
        .slice(0, limit)
    },
  }
}
