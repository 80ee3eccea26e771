// What a person confirms acts of a session by: the public half of a key that an authenticator keeps. It belongs to no admin token:
// a person who signs in again, under whatever name, has the same passkeys, and so has who gets the next token of a name that is of no person.

import { hash } from 'node:crypto'
import type { REGISTRATION_STATES } from '../../protocol/admin/passkeys.ts'
import type { AccessToken } from './access-token.ts'

/** Whose passkeys they are: the person's, whatever it is called, or else those of the name. */
export type PasskeyOwner = Pick<AccessToken, 'name' | 'person'>

export interface Passkey extends PasskeyOwner {
  /** As the authenticator gave it, in base64url. */
  readonly credentialId: string
  /** What its owner calls it. */
  readonly label: string
  /** A COSE key. */
  readonly publicKey: Uint8Array
  /** How a browser may reach the authenticator. */
  readonly transports: readonly string[]
  /** Of its signatures; 0 where the authenticator counts none. */
  readonly counter: number
  /** Of the last challenge that it signed: an earlier one, or that one again, is no longer good. */
  readonly challengedAt: Date
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/** For whom browsers make passkeys: the console, by its name. */
export interface RelyingParty {
  /** The host. */
  readonly id: string
  readonly origin: string
}

export const PASSKEYS_PER_OWNER_MAX = 10
/** So long after it began a session may register the first passkey: who finds an open one later may not. */
export const FIRST_PASSKEY_MS: number = 5 * 60_000

const ID_LENGTH = 16

/** What people and entries name it by. */
export function passkeyIdOf({ credentialId }: Pick<Passkey, 'credentialId'>): string {
  return hash('sha256', credentialId).slice(0, ID_LENGTH)
}

export type RegistrationState = (typeof REGISTRATION_STATES)[number]

/** `own` are those of the owner. */
export function decideRegistration(
  own: readonly Passkey[],
  sessionStartedAt: Date,
  now: Date,
): Exclude<RegistrationState, 'off'> {
  if (own.length >= PASSKEYS_PER_OWNER_MAX) return 'full'
  if (own.length > 0) return 'confirmed'
  return now.getTime() - sessionStartedAt.getTime() <= FIRST_PASSKEY_MS ? 'open' : 'late'
}

/** A clock that was set back does not make an earlier challenge of a later one. */
export function nextChallengeAt(own: readonly Passkey[], now: Date): Date {
  return new Date(
    Math.max(now.getTime(), ...own.map(({ challengedAt }) => challengedAt.getTime() + 1)),
  )
}

/** What an authenticator signed of a challenge. */
export interface SignedChallenge {
  readonly challengedAt: Date
  readonly counter: number
}

/** Whether it comes after all that the passkey signed before. */
export function isLaterUse(
  passkey: Pick<Passkey, 'challengedAt' | 'counter'>,
  { challengedAt, counter }: SignedChallenge,
): boolean {
  const isCounted = passkey.counter > 0 || counter > 0
  return challengedAt > passkey.challengedAt && (!isCounted || counter > passkey.counter)
}
