// One update of an executable at a time; the watcher of the last update holds the lock too. The lock is a file that no
// other user can open: any user may lock what they may read, such as a directory, and keep it locked for ever.

import { fstatSync, lstatSync, rmSync } from 'node:fs'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { type FileLock, tryLockFile } from '../../platform/file-lock.ts'
import { updateNames } from './update-files.ts'

/** Throws a UserError when another holds it, or the executable is not ours to replace. */
export function lockUpdate(binary: string): Pick<FileLock, 'release'> {
  const path = updateNames(binary).lock
  for (;;) {
    const lock = tryLock(binary, path)
    if (lock === undefined) throw underWay(binary)
    if (isNamed(lock, path)) {
      return {
        release: () => {
          rmSync(path, { force: true })
          lock.release()
        },
      }
    }
    // The one before us took its name away, between our opening it and its end.
    lock.release()
  }
}

function tryLock(binary: string, path: string): FileLock | undefined {
  try {
    return tryLockFile(path)
  } catch (error) {
    if (errnoCode(error) === undefined || errnoCode(error) === 'lock_failed') throw error
    throw new UserError('not_replaced', `cannot replace ${binary}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function isNamed({ descriptor }: FileLock, path: string): boolean {
  const named = lstatSync(path, { throwIfNoEntry: false })
  const { dev, ino } = fstatSync(descriptor)
  return named?.dev === dev && named.ino === ino
}

function underWay(binary: string): UserError {
  return new UserError(
    'update_under_way',
    `another update of ${binary} is under way, or its watcher still watches it`,
    { hint: 'try again in two minutes' },
  )
}
