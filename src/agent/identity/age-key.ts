// `identity/age.key`: what is sealed for this host is opened with it. In the form that `age-keygen -pq` gives it, so that
// a person can open files by hand. It stays when the certificate is renewed or the host enrols again. docs/protocol.md SLD.

import { dirname } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import { Secret } from '../../platform/secret.ts'
import type { Recipient } from '../../protocol/identifiers.ts'
import {
  generateAgeIdentity,
  parseIdentityFile,
  recipientNotedIn,
  recipientOf,
} from '../../sealing/age-identity.ts'
import { nodeFileOperations, removeStagedFiles } from '../files/file-operations.ts'

export interface AgeKey {
  readonly identity: Secret<string>
  /** Its public part: the recipient that others seal for. */
  readonly recipient: Recipient
}

const FILE_BYTES_MAX = 64 * 1024

export class AgeKeyDamagedError extends UserError {
  override name = 'AgeKeyDamagedError'
  constructor(path: string, fault = 'does not hold a post-quantum age identity') {
    super('age_key_damaged', `${path} ${fault}`, {
      hint: `put it back from a backup, or move it away: the agent then makes a new one, and you must seal files again`,
    })
  }
}

/** Undefined when there is no key. */
export async function readAgeKey(path: string): Promise<AgeKey | undefined> {
  const text = await readKeyFile(path)
  if (text === undefined) return undefined
  const identity = parseIdentityFile(text)
  const recipient =
    identity === undefined ? undefined : await recipientOf(identity).catch(() => undefined)
  // Never its own words: a parser may quote what it was given.
  if (identity === undefined || recipient === undefined) throw new AgeKeyDamagedError(path)
  const noted = recipientNotedIn(text)
  if (noted !== undefined && noted !== recipient) {
    throw new AgeKeyDamagedError(path, 'names a public key that does not belong to its identity')
  }
  return { identity: new Secret(identity), recipient }
}

/**
 * The recipient that the file names, since to derive it takes libraries of several megabytes, which an agent would hold while it waits.
 * Who uses the key itself compares the two. Undefined when there is no key.
 */
export async function readRecipient(path: string): Promise<Recipient | undefined> {
  const text = await readKeyFile(path)
  if (text === undefined) return undefined
  return recipientNotedIn(text) ?? (await readAgeKey(path))?.recipient
}

/** That, or the recipient of a new key. */
export async function ensureRecipient(path: string, clock: Pick<Clock, 'now'>): Promise<Recipient> {
  return (await readRecipient(path)) ?? (await ensureAgeKey(path, clock)).recipient
}

/** The one that is there, else a new one, durable when it resolves; one that cannot be read is left alone. */
export async function ensureAgeKey(path: string, clock: Pick<Clock, 'now'>): Promise<AgeKey> {
  const found = await readAgeKey(path)
  if (found !== undefined) return found
  await removeStagedFiles(dirname(path))
  const identity = await generateAgeIdentity()
  const recipient = await recipientOf(identity)
  const text = [
    `# created: ${clock.now().toISOString().slice(0, 19)}Z`,
    `# public key: ${recipient}`,
    identity,
    '',
  ].join('\n')
  await replaceFile(path, text, 0o600)
  return { identity: new Secret(identity), recipient }
}

async function readKeyFile(path: string): Promise<string | undefined> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  // A link to a disk that is not there now leads to the key again when it is.
  if (text === undefined && (await nodeFileOperations.kindOf(path)) !== 'nothing') {
    throw new AgeKeyDamagedError(path)
  }
  return text
}
