import { UserError } from '../../platform/errors.ts'
import type { AdminErrorCode, AdminErrorDetails } from '../../protocol/admin/errors.ts'

/** What an admin operation refuses, by a code that has its status. */
export class AdminRefusal extends UserError {
  override name = 'AdminRefusal'
  /** What the message says of this very case, for programs. */
  readonly details: AdminErrorDetails | undefined
  constructor(code: AdminErrorCode, message: string, details?: AdminErrorDetails) {
    super(code, message)
    this.details = details
  }
}
