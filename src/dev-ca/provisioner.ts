// A JWK provisioner: the key pair with which a hub signs one-time tokens (RFC 7517).

import { calculateJwkThumbprint } from 'jose'
import { generateEcP256Key } from '../pki/keys.ts'

export interface ProvisionerPublicJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly alg: 'ES256'
  readonly use: 'sig'
  readonly kid: string
  readonly x: string
  readonly y: string
}

export interface ProvisionerPrivateJwk extends ProvisionerPublicJwk {
  readonly d: string
}

/** A new key; its id is its thumbprint (RFC 7638), as the step programs do it. */
export async function generateProvisionerJwk(): Promise<ProvisionerPrivateJwk> {
  const { keyObject } = await generateEcP256Key()
  // The export of an EC private key always has these members.
  const { x, y, d } = keyObject.export({ format: 'jwk' }) as { x: string; y: string; d: string }
  const kid = await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y })
  return { use: 'sig', kty: 'EC', kid, crv: 'P-256', alg: 'ES256', x, y, d }
}

export function publicPartOf({ d: _d, ...publicJwk }: ProvisionerPrivateJwk): ProvisionerPublicJwk {
  return publicJwk
}
