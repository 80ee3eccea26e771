import type { AdminOperations } from '../../protocol/admin.ts'
import type { Actor } from '../domain/actor.ts'

/** Who asks for an admin operation, and how. */
export interface AdminCaller {
  readonly actor: Actor
  /** With it a create is done once, however often it is asked for. */
  readonly idempotency?: IdempotencySecret
}

/** What the caller sent and the hub keeps nowhere. */
export interface IdempotencySecret {
  /** The admin token; empty on the socket. */
  readonly credential: string
  readonly key: string
}

export type OperationsOf = (caller: AdminCaller) => AdminOperations
