import { getSystemErrorMessage } from 'node:util'
import { SvcError, UserError } from '../../platform/errors.ts'

interface SystemError extends Error {
  readonly code: string
  readonly errno: number
}

/** What was being done to the vault at `root`: `cannot ACTION`. */
export interface Attempt {
  readonly root: string
  readonly action: string
}

/** A failure that the system is the cause of, with its reason and a way out; any other stays as it is. */
export function explainFailure(error: unknown, attempt: Attempt): unknown {
  if (error instanceof UserError) return error
  if (error instanceof SvcError && error.hint !== undefined) return error
  const cause = findSystemError(error)
  if (cause === undefined) return explainStoreFailure(error, attempt)
  const [code, message] =
    error instanceof SvcError
      ? [error.code, error.message]
      : ['vault_inaccessible', `cannot ${attempt.action}`]
  const reason = getSystemErrorMessage(cause.errno)
  return new UserError(code, message.endsWith(reason) ? message : `${message}: ${reason}`, {
    cause: error,
    hint: chooseHint(cause.code, attempt),
  })
}

/** SQLite keeps the system's reason to itself. */
function explainStoreFailure(error: unknown, { root }: Attempt): unknown {
  if (!(error instanceof SvcError) || error.code !== 'store_unavailable') return error
  return new SvcError(error.code, error.message, {
    cause: error,
    hint: `check the owner, the mode and the free space of ${root}`,
  })
}

function findSystemError(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined
  const isOfSystem = 'errno' in error && 'code' in error && typeof error.errno === 'number'
  return isOfSystem ? (error as SystemError) : findSystemError(error.cause)
}

function chooseHint(code: string, { root }: Attempt): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `run svc as the owner of ${root}, or as root`
    case 'ENOSPC':
    case 'EDQUOT':
      return `free space for ${root} first`
    default:
      return 'SVC_VAULT_ROOT says where the vault is'
  }
}
