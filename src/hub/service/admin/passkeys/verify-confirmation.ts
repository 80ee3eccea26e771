// Whether a passkey of the person confirmed this very request. What is cheap is looked at first: form, MAC and end of the challenge, whose
// passkey it is. Only then a signature is verified, and the use is stored: after that the same confirmation is no longer good, at any hub
// of the vault. docs/protocol.md PKY-7, PKY-8.

import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Clock } from '../../../../platform/clock.ts'
import { CONFIRMATION_CHARACTERS_MAX } from '../../../../protocol/admin/passkeys.ts'
import type { TokenHash } from '../../../../protocol/identifiers.ts'
import {
  isLaterUse,
  type Passkey,
  passkeyIdOf,
  type SignedChallenge,
} from '../../../domain/passkey.ts'
import type { Store } from '../../../store/store.ts'
import type { Confirmations } from './confirmations.ts'
import { findOwner } from './find-owner.ts'
import { readChallenge } from './read-challenge.ts'
import { verifyAssertion } from './webauthn.ts'

export interface ConfirmedRequest {
  readonly session: TokenHash
  readonly requestSha256: string
  /** As it came in the header. */
  readonly confirmation: string
}

export type Confirmed = { readonly confirmedBy: string } | { readonly fault: string }

export type VerifyConfirmation = (request: ConfirmedRequest) => Promise<Confirmed>

export function createVerifyConfirmation(
  store: Store,
  clock: Clock,
  { party, challenges }: Confirmations,
): VerifyConfirmation {
  return async ({ session, requestSha256, confirmation }) => {
    const assertion = parseAssertion(confirmation)
    if (assertion === undefined) return { fault: 'the header is no assertion in base64url' }
    const challenge = readChallenge(assertion.response.clientDataJSON, 'webauthn.get')
    const opened = challenges.open(challenge, { session, requestSha256 }, clock.now())
    if ('fault' in opened) return opened
    const owner = await findOwner(store.reader, session)
    const passkey = owner?.passkeys.find(({ credentialId }) => credentialId === assertion.id)
    if (passkey === undefined) return { fault: 'no passkey of this person' }
    if (opened.challengedAt <= passkey.challengedAt) return USED
    const verified = await verifyAssertion(assertion, passkey, { challenge, party })
    if ('fault' in verified) return verified
    const signed = { challengedAt: opened.challengedAt, counter: verified.counter }
    const isStored = await store.write((writer) => keepUse(writer.passkeys, passkey, signed, clock))
    return isStored ? { confirmedBy: passkeyIdOf(passkey) } : USED
  }
}

const USED = { fault: 'the confirmation was used, or is older than one that was' }

/** Looked at before, and again here: of two requests with one confirmation, one is done. */
async function keepUse(
  passkeys: Parameters<Parameters<Store['write']>[0]>[0]['passkeys'],
  { credentialId }: Passkey,
  signed: SignedChallenge,
  clock: Clock,
): Promise<boolean> {
  const present = await passkeys.find(credentialId)
  if (present === undefined || !isLaterUse(present, signed)) return false
  await passkeys.setUsed(credentialId, signed, clock.now())
  return true
}

const FORM = /^[A-Za-z0-9_-]+$/

/** Undefined for whatever else it is; the library looks at its parts. */
function parseAssertion(confirmation: string): AuthenticationResponseJSON | undefined {
  if (confirmation.length > CONFIRMATION_CHARACTERS_MAX || !FORM.test(confirmation))
    return undefined
  try {
    const parsed: unknown = JSON.parse(Buffer.from(confirmation, 'base64url').toString('utf8'))
    return isAssertion(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function isAssertion(value: unknown): value is AuthenticationResponseJSON {
  if (!isObject(value) || !isObject(value['response'])) return false
  const { clientDataJSON, authenticatorData, signature } = value['response']
  return [
    value['id'],
    value['rawId'],
    value['type'],
    clientDataJSON,
    authenticatorData,
    signature,
  ].every((part) => typeof part === 'string')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
