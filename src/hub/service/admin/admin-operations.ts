import { type AdminOperations, operationsBy } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import type { Actor } from '../../domain/actor.ts'
import type { AdminHub, IdempotencySecret } from './admin-context.ts'
import { createPerformOperation } from './perform-operation.ts'

/** The operations of one actor; the log records them in the actor's name. The caller has checked each request. */
export function createAdminOperations(
  hub: AdminHub,
  actor: Actor,
  role: AdminRole,
  idempotency?: IdempotencySecret,
): AdminOperations {
  const perform = createPerformOperation(hub)
  return operationsBy((name, request) => perform(name, request, { actor, role, idempotency }))
}
