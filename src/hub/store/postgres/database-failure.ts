import { describeError } from '../../../platform/errors.ts'
import { StoreError } from '../store-error.ts'

/** What goes wrong with a connection is a failure of the port: nothing happened, or, where that matters, the caller knows better. */
export function toDatabaseFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('store_unavailable', `the database: ${describeError(error)}`, {
    cause: error,
  })
}
