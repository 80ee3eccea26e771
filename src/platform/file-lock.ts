// flock(2) without a native module: a child `flock` locks the open file description that we share with it.
// The lock is ours as long as our descriptor is open, and the kernel drops it when we die, however we die.
// Node opens files close-on-exec, so no other child inherits the lock unless it is given the descriptor.

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, constants } from 'node:fs'
import { SvcError } from './errors.ts'

export interface FileLock {
  /** A child that is given it holds the lock too, for as long as it lives. */
  readonly descriptor: number
  release(): void
}

const BUSY_EXIT_STATUS = 75

/** Takes an exclusive lock at once, or answers undefined when another process holds it. */
export function tryLockFile(path: string, mode = 0o600): FileLock | undefined {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
  return tryLock(path, openSync(path, flags, mode))
}

function tryLock(path: string, descriptor: number): FileLock | undefined {
  const child = spawnSync('flock', ['-x', '-n', '-E', String(BUSY_EXIT_STATUS), '3'], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  })
  if (child.status === 0) return { descriptor, release: () => closeSync(descriptor) }
  closeSync(descriptor)
  if (child.status === BUSY_EXIT_STATUS) return undefined
  throw new SvcError(
    'lock_failed',
    `cannot lock ${path}: ${child.error?.message ?? child.stderr.toString().trim()}`,
    {
      hint: 'the flock program of util-linux is needed',
    },
  )
}
