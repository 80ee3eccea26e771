import { getSystemErrorMessage } from 'node:util'
import { errnoCode, SvcError, UserError } from '../../platform/errors.ts'

/** A failure of the system names the file, in words. */
export async function explainFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SvcError || errnoCode(error) === undefined) throw error
    const { errno } = error as { errno?: unknown }
    if (typeof errno !== 'number') throw error
    const hint = errnoCode(error) === 'ENOSPC' ? { hint: 'free space there first' } : {}
    throw new UserError('file_failed', `cannot use ${path}: ${getSystemErrorMessage(errno)}`, {
      cause: error,
      ...hint,
    })
  }
}
