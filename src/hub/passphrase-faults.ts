// What makes a master passphrase weak. `svc init` refuses it; a vault that has one already opens all the same.

import { statSync } from 'node:fs'
import { type SvcError, UserError } from '../platform/errors.ts'
import type { Secret } from '../platform/secret.ts'

const CHARACTERS_MIN = 12
const READABLE_BY_OTHERS = 0o004

/** The same environment as the passphrase came from, if it did. docs/protocol.md VLT-18. */
export function findPassphraseFaults(
  passphrase: Secret<string>,
  env: Readonly<Record<string, string | undefined>>,
): SvcError[] {
  return [findShortness(passphrase), findExposure(env)].filter((fault) => fault !== undefined)
}

function findShortness(passphrase: Secret<string>): SvcError | undefined {
  if (Array.from(passphrase.reveal()).length >= CHARACTERS_MIN) return undefined
  return new UserError(
    'passphrase_short',
    `the master passphrase has fewer than ${CHARACTERS_MIN} characters`,
    { hint: 'openssl rand -base64 32 makes one that nobody guesses' },
  )
}

/** Its group may read it: service managers and container runtimes hand secrets on that way. */
function findExposure(env: Readonly<Record<string, string | undefined>>): SvcError | undefined {
  const path = env['SVC_MASTER_PASSPHRASE'] ? undefined : env['SVC_MASTER_PASSPHRASE_FILE']
  const stats = path ? statSync(path, { throwIfNoEntry: false }) : undefined
  if (stats?.isFile() !== true || (stats.mode & READABLE_BY_OTHERS) === 0) return undefined
  return new UserError(
    'passphrase_exposed',
    `SVC_MASTER_PASSPHRASE_FILE: every user of this machine can read ${path}`,
    { hint: `chmod 600 ${path}; if others could read it, use another passphrase` },
  )
}
