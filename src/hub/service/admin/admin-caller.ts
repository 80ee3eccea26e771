import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import type { Actor } from '../../domain/actor.ts'

/** Who asks for an admin operation, and how. */
export interface AdminCaller {
  readonly actor: Actor
  /** `admin` for whoever has the vault itself, or its socket. */
  readonly role: AdminRole
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
