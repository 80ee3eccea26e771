// The key pair that opens sealed files: an identity of the age format, hybrid post-quantum (ML-KEM-768 and X25519).
// https://age-encryption.org/v1 and, for the kind of recipient, https://filippo.io/hpke-pq.

import { hash } from 'node:crypto'
import { invariant } from '../platform/errors.ts'
import { parseRecipient, type Recipient } from '../protocol/identifiers.ts'

const IDENTITY_LINE = /^AGE-SECRET-KEY-PQ-1[02-9AC-HJ-NP-Z]+$/

/** `AGE-SECRET-KEY-PQ-1…`, without a line end. */
export async function generateAgeIdentity(): Promise<string> {
  const { generateHybridIdentity } = await import('age-encryption')
  return generateHybridIdentity()
}

/** Throws when the identity is not one. */
export async function recipientOf(identity: string): Promise<Recipient> {
  const { identityToRecipient } = await import('age-encryption')
  const recipient = parseRecipient(await identityToRecipient(identity))
  invariant(recipient, 'an identity of the hybrid kind has a recipient of that kind')
  return recipient
}

/**
 * The one hybrid identity in an identity file, as `age-keygen -pq` writes it: comments and empty lines are passed over.
 * Undefined when there is none, more than one, or anything else in it.
 */
export function parseIdentityFile(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const [identity] = lines
  return lines.length === 1 && identity !== undefined && IDENTITY_LINE.test(identity)
    ? identity
    : undefined
}

/**
 * The recipient that an identity file names in its one comment line `# public key: …`, as `age-keygen -pq` writes it: who needs only
 * that need not load the library that derives it. Undefined when the file has another form; nothing says yet that it is the identity's.
 */
export function recipientNotedIn(text: string): Recipient | undefined {
  if (parseIdentityFile(text) === undefined) return undefined
  const noted = [...text.matchAll(/^# public key: (\S+)$/gm)].map(([, recipient = '']) => recipient)
  const [recipient] = noted
  return noted.length === 1 && recipient !== undefined ? parseRecipient(recipient) : undefined
}

/** What people compare: the SHA-256 of the recipient's text, written as OpenSSH writes fingerprints. */
export function fingerprintOf(recipient: Recipient): string {
  return `SHA256:${hash('sha256', recipient, 'base64').replace(/=+$/, '')}`
}
