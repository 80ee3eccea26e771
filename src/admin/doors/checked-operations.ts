import { UserError } from '../../platform/errors.ts'
import {
  ADMIN_OPERATIONS,
  type AdminOperationName,
  type AdminOperations,
} from '../../protocol/admin/operations.ts'
import { findAdminRequestFault } from '../../protocol/admin/requests.ts'

/** Refuses what the hub's socket would refuse, so that a command answers alike with and without a hub. */
export function checkRequests(operations: AdminOperations): AdminOperations {
  const names = Object.keys(ADMIN_OPERATIONS) as AdminOperationName[]
  const checked = names.map((name) => {
    const operation = operations[name] as (request: unknown) => Promise<unknown>
    return [
      name,
      async (request: unknown) => {
        const fault = findAdminRequestFault(name, request)
        if (fault !== undefined) throw new UserError('request_invalid', fault.message)
        return operation(request)
      },
    ]
  })
  return Object.fromEntries(checked) as AdminOperations
}
