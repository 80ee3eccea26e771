// recipients.json, on the operator's machine. docs/protocol.md SEA.

import { mkdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import { tryLockFile, type FileLock } from '../../platform/file-lock.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import {
  addPins,
  NO_PINS,
  parsePins,
  PIN_FILE_BYTES_MAX,
  type RecipientPins,
  renderPins,
} from '../../sealing/recipients/recipient-pins.ts'

const LOCK_WAIT_MS = 10_000
const LOCK_RETRY_MS = 50

/** Undefined where the environment names no place for it. */
export function pinFilePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env['SVC_RECIPIENTS_FILE']
  if (named) return resolve(named)
  const configured = env['XDG_CONFIG_HOME']
  // https://specifications.freedesktop.org/basedir-spec: a relative one does not count.
  if (configured && isAbsolute(configured)) return join(configured, 'svc', 'recipients.json')
  const home = env['HOME']
  return home ? join(home, '.config', 'svc', 'recipients.json') : undefined
}

export async function readPinFile(path: string): Promise<RecipientPins> {
  const text = await readTextIfPresent(path, PIN_FILE_BYTES_MAX)
  if (text === undefined) return NO_PINS
  const pins = parsePins(text)
  if (pins !== undefined) return pins
  throw new UserError('recipients_invalid', `${path} is damaged, or of a newer version of svc`, {
    hint: 'it holds the fingerprints that you have accepted; put it back, or move it away and accept them again',
  })
}

/** Adds to what is there by then, since another svc may have written meanwhile. */
export async function addToPinFile(path: string, more: RecipientPins, clock: Clock): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const lock = await waitForLock(`${path}.lock`, clock)
  try {
    await replaceFile(path, renderPins(addPins(await readPinFile(path), more)), 0o600)
  } finally {
    lock.release()
  }
}

async function waitForLock(path: string, clock: Clock): Promise<FileLock> {
  const deadlineMs = clock.now().getTime() + LOCK_WAIT_MS
  for (;;) {
    const lock = tryLockFile(path)
    if (lock !== undefined) return lock
    if (clock.now().getTime() >= deadlineMs) {
      throw new UserError('recipients_busy', `another svc has held ${path} for too long`)
    }
    await clock.sleep(LOCK_RETRY_MS)
  }
}
