import { type SvcError, UserError } from '../../platform/errors.ts'
import type { AdminErrorDetails } from '../../protocol/admin/errors.ts'
import {
  type AdminOperationName,
  type AdminOperations,
  operationsBy,
} from '../../protocol/admin/operations.ts'
import { findAdminRequestFault } from '../../protocol/admin/requests.ts'
import { findHint } from './hints.ts'

type Perform = (name: AdminOperationName, request: object) => Promise<unknown>

/** Refuses what the hub's socket would refuse, and hints alike, so that a command answers alike with and without a hub. */
export function checkRequests(perform: Perform): AdminOperations {
  return operationsBy(async (operation, request) => {
    const fault = findAdminRequestFault(operation, request)
    if (fault !== undefined) throw new UserError('request_invalid', fault.message)
    try {
      return await perform(operation, request)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const { code, message, details = {} } = error as SvcError & { details?: AdminErrorDetails }
      const hint = findHint(code, { operation, request, details })
      throw new UserError(code, message, { cause: error.cause, ...(hint && { hint }) })
    }
  })
}
