// What an authenticator answers, verified by @simplewebauthn/server. It is loaded with the first answer: `svc` and most hubs never see one.

import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { describeError } from '../../../../platform/errors.ts'
import type { RegisteredCredential } from '../../../../protocol/admin/passkeys.ts'
import type { Passkey, RelyingParty } from '../../../domain/passkey.ts'
import { findKeyFault, PASSKEY_ALGORITHMS } from './public-key.ts'

export type Verified<Found> = Found | { readonly fault: string }

interface Expected {
  readonly challenge: string
  readonly party: RelyingParty
}

export async function verifyAssertion(
  response: AuthenticationResponseJSON,
  passkey: Passkey,
  expected: Expected,
): Promise<Verified<{ readonly counter: number }>> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      ...namesOf(expected),
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: Uint8Array.from(passkey.publicKey),
        counter: passkey.counter,
      },
    })
    if (!verified) return { fault: 'the signature is not one of this passkey' }
    return { counter: authenticationInfo.newCounter }
  } catch (error) {
    return { fault: describeError(error) }
  }
}

export async function verifyRegistration(
  credential: RegisteredCredential,
  expected: Expected,
): Promise<Verified<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter'>>> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const fault = await findAttestationFault(credential.response.attestationObject)
  if (fault !== undefined) return { fault }
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...credential,
        response: {
          clientDataJSON: credential.response.clientDataJSON,
          attestationObject: credential.response.attestationObject,
        },
        clientExtensionResults: {},
      },
      ...namesOf(expected),
      requireUserVerification: true,
      supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
    })
    if (!verified) return { fault: 'its own signature does not fit' }
    const { id, publicKey, counter } = registrationInfo.credential
    if (id !== credential.id) return { fault: 'it is another credential than it says' }
    const keyFault = await findKeyFault(publicKey)
    return keyFault === undefined ? { credentialId: id, publicKey, counter } : { fault: keyFault }
  } catch (error) {
    return { fault: describeError(error) }
  }
}

/**
 * The hub asks for no attestation, and has nothing to hold one against. A statement with certificates is refused before the library
 * looks at it: that would fetch the revocation lists which the certificates name.
 */
async function findAttestationFault(attestationObject: string): Promise<string | undefined> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  try {
    const decoded = decodeAttestationObject(
      Uint8Array.from(Buffer.from(attestationObject, 'base64url')),
    )
    const format = decoded.get('fmt')
    if (format === 'none') return undefined
    // By its own key, as browsers leave it where no maker is named.
    if (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined) return undefined
    return 'it comes with an attestation that nobody asked for'
  } catch (error) {
    return describeError(error)
  }
}

function namesOf({ challenge, party }: Expected) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
  } as const
}
