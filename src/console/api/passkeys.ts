// What the browser and its authenticator do about passkeys (WebAuthn). docs/protocol.md PKY.

import { encode, sha256, toBase64Url, toHex } from '../../audit/browser/bytes.ts'
import { ask } from './client.ts'
import type { UnconfirmedRequest } from './confirmation.ts'
import type { AdminRequest } from './operations.ts'

/** The authenticator, or who holds it, made or signed nothing. */
export class NoPasskey extends Error {
  override name = 'NoPasskey'
}

/** Older browsers lack it. */
export function hasPasskeys(): boolean {
  return typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'
}

/** The header that confirms this very request. Throws NoPasskey, and what the hub refuses. */
export async function confirmRequest(
  { method, url, body }: UnconfirmedRequest,
  leaving: AbortSignal,
): Promise<string> {
  const hash = toHex(await sha256(encode(`${method} ${url}\n${body}`)))
  const { options } = await ask('prepareConfirmation', { request_sha256: hash })
  const credential = await answerOf(() =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(
        options as unknown as PublicKeyCredentialRequestOptionsJSON,
      ),
      signal: leaving,
    }),
  )
  const { id, rawId, type, response } = credential.toJSON() as AuthenticationResponseJSON
  const { clientDataJSON, authenticatorData, signature } = response
  const assertion = { id, rawId, type, response: { clientDataJSON, authenticatorData, signature } }
  return toBase64Url(encode(JSON.stringify(assertion)))
}

/** A new passkey, for the hub to keep. Throws as above. */
export async function makePasskey(): Promise<AdminRequest<'registerPasskey'>['credential']> {
  const { options } = await ask('preparePasskey', {})
  const made = await answerOf(() =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
        options as unknown as PublicKeyCredentialCreationOptionsJSON,
      ),
    }),
  )
  const { id, rawId, response } = made.toJSON() as RegistrationResponseJSON
  const { clientDataJSON, attestationObject, transports } = response
  return {
    id,
    rawId,
    type: 'public-key',
    response: { clientDataJSON, attestationObject, transports },
  }
}

async function answerOf(
  askBrowser: () => Promise<Credential | null>,
): Promise<PublicKeyCredential> {
  if (!hasPasskeys()) throw new NoPasskey('this browser has no passkeys')
  try {
    const credential = await askBrowser()
    if (credential instanceof PublicKeyCredential) return credential
  } catch (error) {
    throw new NoPasskey((error as Error).message, { cause: error })
  }
  throw new NoPasskey('no passkey answered')
}
