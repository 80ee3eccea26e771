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
  const fault = await findDearFault(credential.response.attestationObject)
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
    return { credentialId: id, publicKey, counter }
  } catch (error) {
    return { fault: describeError(error) }
  }
}

/**
 * What the library would do at a price that others name. The hub asks for no attestation, and has nothing to hold one against: of a
 * statement with certificates it would fetch the revocation lists which they name, and by any key it would verify one without.
 */
async function findDearFault(attestationObject: string): Promise<string | undefined> {
  const { decodeAttestationObject, parseAuthenticatorData } =
    await import('@simplewebauthn/server/helpers')
  try {
    const decoded = decodeAttestationObject(
      Uint8Array.from(Buffer.from(attestationObject, 'base64url')),
    )
    const format = decoded.get('fmt')
    // By its own key, as browsers leave it where no maker is named.
    const isByItself = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
    if (format !== 'none' && !isByItself)
      return 'it comes with an attestation that nobody asked for'
    const { credentialPublicKey: key } = parseAuthenticatorData(decoded.get('authData'))
    return key === undefined ? 'it comes without a key' : await findKeyFault(key)
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
