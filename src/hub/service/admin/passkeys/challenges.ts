// What an authenticator signs: bytes that say by themselves, under a MAC, for which session and what they are, and until when. The hub keeps
// nothing of them, and every hub that has the vault's key knows its own. docs/protocol.md PKY-8.

import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../../../platform/secret.ts'
import { CHALLENGE_SECONDS } from '../../../../protocol/admin/passkeys.ts'
import type { TokenHash } from '../../../../protocol/identifiers.ts'

/** Only in the MAC: who has a challenge has that of another session or another request as little as one that he made up. */
export interface ChallengeSubject {
  readonly session: TokenHash
  /** Of a request that is to be confirmed; undefined for a passkey that is to be registered. */
  readonly requestSha256: string | undefined
}

export interface Challenges {
  /** In base64url. `at` is what orders the challenges of a name. */
  make(subject: ChallengeSubject, at: Date, now: Date): string
  open(challenge: string, subject: ChallengeSubject, now: Date): OpenedChallenge
}

export type OpenedChallenge =
  | { readonly challengedAt: Date }
  | { readonly fault: 'not a challenge for this request' | 'the challenge has expired' }

const KEY_PURPOSE = 'svc passkey challenge v1'
const AT_OFFSET = 0
const EXPIRES_OFFSET = 8
const NONCE_OFFSET = 16
const MAC_OFFSET = 32
const BYTES = 64

export function createChallenges(dataKey: Secret<Buffer>): Challenges {
  const key = Buffer.from(hkdfSync('sha256', dataKey.reveal(), '', KEY_PURPOSE, 32))
  const macOf = (
    bytes: Buffer,
    { session, requestSha256 = 'registration' }: ChallengeSubject,
  ): Buffer =>
    createHmac('sha256', key)
      .update(bytes.subarray(0, MAC_OFFSET))
      .update(`${session}\n${requestSha256}`)
      .digest()
  return {
    make: (subject, at, now) => {
      const bytes = Buffer.alloc(BYTES)
      bytes.writeBigUInt64BE(BigInt(at.getTime()), AT_OFFSET)
      bytes.writeBigUInt64BE(BigInt(now.getTime() + CHALLENGE_SECONDS * 1000), EXPIRES_OFFSET)
      randomBytes(MAC_OFFSET - NONCE_OFFSET).copy(bytes, NONCE_OFFSET)
      macOf(bytes, subject).copy(bytes, MAC_OFFSET)
      return bytes.toString('base64url')
    },
    open: (challenge, subject, now) => {
      const bytes = Buffer.from(challenge, 'base64url')
      const isOurs =
        bytes.length === BYTES && timingSafeEqual(bytes.subarray(MAC_OFFSET), macOf(bytes, subject))
      if (!isOurs) return { fault: 'not a challenge for this request' }
      if (bytes.readBigUInt64BE(EXPIRES_OFFSET) <= BigInt(now.getTime())) {
        return { fault: 'the challenge has expired' }
      }
      return { challengedAt: new Date(Number(bytes.readBigUInt64BE(AT_OFFSET))) }
    },
  }
}
