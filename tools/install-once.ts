// What tests need and takes long to get: put into the user's cache once, whoever asks for it first.

import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/platform/clock.ts'
import { SvcError } from '../src/platform/errors.ts'
import { tryLockFile, type FileLock } from '../src/platform/file-lock.ts'
import { exists } from '../src/platform/files.ts'

/** How long an installation may take, and how long another process waits for it. */
export const INSTALL_MS_MAX = 15 * 60_000

const POLL_MS = 250

/** Where the user's cache keeps what is named so. */
export function placeInCache(...names: readonly string[]): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'cartorio', ...names)
}

/**
 * Has `install` fill a directory beside `place`, which then becomes `place` by one rename: nobody ever sees half of it.
 * Nothing happens where `place` is there already. Throws what `install` throws, having removed what it made.
 */
export async function installOnce(
  place: string,
  install: (staging: string) => Promise<void>,
): Promise<void> {
  if (await exists(place)) return
  await mkdir(dirname(place), { recursive: true })
  const lock = await waitForLock(`${place}.lock`)
  try {
    // Another process may have done it while this one waited.
    if (!(await exists(place))) await installBeside(place, install)
  } finally {
    lock.release()
  }
}

async function waitForLock(path: string): Promise<FileLock> {
  const deadlineMs = systemClock.now().getTime() + INSTALL_MS_MAX
  while (systemClock.now().getTime() < deadlineMs) {
    const lock = tryLockFile(path)
    if (lock !== undefined) return lock
    await systemClock.sleep(POLL_MS)
  }
  throw new SvcError('install_locked', `another process has held ${path} for too long`)
}

async function installBeside(
  place: string,
  install: (staging: string) => Promise<void>,
): Promise<void> {
  const staging = await mkdtemp(`${place}-`)
  try {
    await install(staging)
    await rename(staging, place)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}
