import type { ChainedEntry } from '../../audit/hash-chain.ts'
import type { AgentId, DeliveryId, EntryId } from '../../protocol/identifiers.ts'

/** One row of the audit log. */
export interface AuditEntry extends ChainedEntry {
  readonly id: EntryId
  /** Null for the hub's own acts, whose actor is in the payload. */
  readonly agentId: AgentId | null
  readonly eventType: string
  readonly deliveryId: DeliveryId | null
  readonly requestId: string | null
}

/** What is to become one: it gets its number, time and hashes where it is appended. */
export interface NewAuditEntry extends Omit<
  AuditEntry,
  Exclude<keyof ChainedEntry, 'payloadText'>
> {
  /** When it happened; the timestamp is never before the timestamp of the last entry. */
  readonly at: Date
}
