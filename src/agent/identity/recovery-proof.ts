// What a recovery shows the hub: that the caller holds the key of the expired identity, now, for this CSR and this hub.

import { hash, randomUUID } from 'node:crypto'
import { UserError } from '../../platform/errors.ts'
import type { PrivateKey } from '../../pki/keys.ts'
import type { RecoveryClaims } from '../../protocol/schemas.ts'

export interface RecoveryProofOptions {
  /** Of the expired identity. */
  readonly key: PrivateKey
  readonly csrDer: Buffer
  /** The host of the hub's mutual-TLS URL. */
  readonly audience: string
  /** By the hub's clock. */
  readonly now: Date
}

/** A new one for every try: the hub takes each `jti` once. docs/protocol.md REC. */
export async function createRecoveryProof(options: RecoveryProofOptions): Promise<string> {
  const { key, csrDer, audience, now } = options
  refuseOtherThanP256(key)
  const claims: RecoveryClaims = {
    csr_sha256: hash('sha256', csrDer, 'base64url'),
    aud: audience,
    iat: Math.floor(now.getTime() / 1000),
    jti: randomUUID(),
  }
  // Recoveries are rare, and the library stays in memory.
  const { CompactSign } = await import('jose')
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256' })
    .sign(key.keyObject)
}

/** The proof is ES256, which no other key can sign. */
export function refuseOtherThanP256({ keyObject }: PrivateKey): void {
  if (keyObject.asymmetricKeyDetails?.namedCurve === 'prime256v1') return
  throw new UserError(
    'recovery_impossible',
    'the agent cannot recover the expired identity: its key is not P-256',
    { hint: 'with a new token, `svc-agent enroll --replace` sets it aside' },
  )
}
