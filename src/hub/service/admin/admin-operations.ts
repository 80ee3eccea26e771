import { type AdminOperations, operationsBy } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import type { Actor } from '../../domain/actor.ts'
import type { AdminHub, IdempotencySecret } from './admin-context.ts'
import { createPerformOperation } from './perform-operation.ts'

/** The operations of one actor, in whose name they are recorded; each request was checked before. */
export function createAdminOperations(
  hub: AdminHub,
  actor: Actor,
  role: AdminRole,
  idempotency?: IdempotencySecret,
): AdminOperations {
  const perform = createPerformOperation(hub)
  return operationsBy((name, request) => perform(name, request, { actor, role, idempotency }))
}
