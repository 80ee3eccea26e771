// Entries of the log as the stream of changes tells them: their types and ids, and nothing of what they say. docs/protocol.md DOR-3, DOR-6.

import type { Doorbell } from '../../../protocol/admin/changes-route.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { StoreReader } from '../../store/store.ts'
import { keepMatchingAgents } from '../agent-slices.ts'
import { boundOf } from './find-access-token.ts'

export interface ReadDoorbells {
  /** The number of the last entry. */
  findEnd(): Promise<number>
  /** Of the entries after this one, oldest first. */
  list(afterSeq: number, limit: number): Promise<readonly Doorbell[]>
  /** Which of these agents are of this selector. */
  findWithin(agentIds: Iterable<string>, only: string): Promise<ReadonlySet<string>>
}

const NAMED = [
  'agente_id',
  'carga_id',
  'webhook_id',
  'join_rule_id',
  'token_id',
  'admin_token_id',
  'rollout',
] as const
const ID = /^[0-9A-Za-z-]{1,64}$/

export function createReadDoorbells(reader: StoreReader): ReadDoorbells {
  return {
    findEnd: async () => (await reader.findChainEnd())?.seq ?? 0,
    list: async (afterSeq, limit) =>
      Promise.all(
        (await reader.listEntries({ afterSeq, limit })).map((entry) => doorbellOf(reader, entry)),
      ),
    findWithin: async (agentIds, only) => {
      const selector = boundOf(only)
      const ids = [...new Set(agentIds)]
      const agents = await Promise.all(ids.map((id) => reader.findAgentById(id as AgentId)))
      const known = agents.filter((agent) => agent !== undefined)
      const kept =
        selector === undefined ? known : await keepMatchingAgents(reader, selector, known)
      return new Set(kept.map(({ id }) => id))
    },
  }
}

/** What an agent says in its own payload names nobody. */
async function doorbellOf(reader: StoreReader, entry: AuditEntry): Promise<Doorbell> {
  const { seq, eventType: tipo, agentId, deliveryId } = entry
  const named = agentId === null ? idsOf(entry.payloadText) : {}
  const delivery =
    deliveryId === null || agentId !== null ? undefined : await reader.findDelivery(deliveryId)
  const agent = agentId ?? named.agente_id ?? delivery?.agentId
  return {
    seq,
    tipo,
    ...named,
    ...(agent !== undefined && { agente_id: agent }),
    ...(deliveryId !== null && { entrega_id: deliveryId }),
  }
}

function idsOf(payloadText: string): Partial<Record<(typeof NAMED)[number], string>> {
  const payload = parseObject(payloadText)
  const ids = NAMED.map((name) => [name, payload[name]] as const)
  return Object.fromEntries(ids.filter(([, id]) => typeof id === 'string' && ID.test(id)))
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
