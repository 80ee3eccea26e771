// What the hub signs of an identity that is in use: with it a hub that was restored from an older backup knows its own again.
// docs/protocol.md BKP-14.

import type { KeyObject } from 'node:crypto'
import { type NoteSigner, noteVerifier, openNote, signNote } from './signed-note.ts'

export interface IdentityReceipt {
  /** The name of the log, and of the key that signed, with the epoch of that time. */
  readonly origin: string
  /** When the hub signed it; the identity was in use then, and good. */
  readonly at: Date
  readonly agentId: string
  readonly hostname: string
  readonly role: string
  /** SHA-256 of the token of the agent’s last enrolment, lower-case hex. */
  readonly enrolledWith: string
  /** Of the certificate, lower-case hex. */
  readonly sha256: string
}

const LABEL = 'cartorio-identity/v1'
const CHARACTERS_MAX = 2048
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const SHA256 = /^[0-9a-f]{64}$/
const ID = /^[0-9a-f-]{36}$/

/** Signed under the name of the log, with its key: `origin` is the signer’s. */
export function signReceipt(receipt: Omit<IdentityReceipt, 'origin'>, signer: NoteSigner): string {
  const { at, agentId, hostname, role, enrolledWith, sha256 } = receipt
  const who = [agentId, hostname, JSON.stringify(role), enrolledWith, sha256]
  return signNote(`${[LABEL, signer.name, at.toISOString(), ...who].join('\n')}\n`, signer)
}

/** What it says, signed or not; undefined when it is not of this form. */
export function parseReceipt(note: string): IdentityReceipt | undefined {
  if (note.length > CHARACTERS_MAX) return undefined
  const [label, origin = '', instant = '', agentId = '', hostname = '', quoted = '', ...rest] =
    note.split('\n')
  const [enrolledWith = '', sha256 = '', end] = rest
  const at = new Date(instant)
  const role = unquote(quoted)
  if (label !== LABEL || end !== '' || origin === '' || hostname === '') return undefined
  if (role === undefined) return undefined
  if (!INSTANT.test(instant) || Number.isNaN(at.getTime())) return undefined
  if (!ID.test(agentId) || !SHA256.test(enrolledWith) || !SHA256.test(sha256)) return undefined
  return { origin, at, agentId, hostname, role, enrolledWith, sha256 }
}

/** Whether the log that the receipt names has signed it. */
export function isSignedReceipt(
  note: string,
  { origin }: Pick<IdentityReceipt, 'origin'>,
  publicKey: KeyObject,
): boolean {
  return openNote(note, [noteVerifier(origin, publicKey)]) !== undefined
}

function unquote(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
