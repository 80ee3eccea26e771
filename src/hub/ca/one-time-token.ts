// The one-time token (RFC 7519) that lets one CSR be signed, or one certificate revoked, once, as step-ca's JWK
// provisioners take it.

import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../../platform/secret.ts'
import { contentOf, DerTag, readDer, readDerSequence } from '../../pki/der.ts'
import { invariant } from '../../platform/errors.ts'
import type { ProvisionerKey } from './provisioner-key.ts'

export interface OneTimeTokenRequest {
  /** The provisioner's name; the CA finds the provisioner by this and the key id. */
  readonly issuer: string
  /** The URL of the operation. */
  readonly audience: string
  /** The common name to sign for, or the serial to revoke, in decimal. */
  readonly subject: string
  /** What may be signed; a token that revokes has none. */
  readonly signing?: {
    readonly sans: readonly string[]
    /** SHA-256 of the CSR's DER, hex: no other CSR can be signed with this token. */
    readonly csrSha256: string
  }
}

export type OneTimeTokenSigner = (request: OneTimeTokenRequest) => string

export interface OneTimeTokenSignerOptions {
  readonly key: Secret<ProvisionerKey>
  readonly kid: string
  readonly clock: Clock
}

const BACKDATE_SECONDS = 60
const LIFE_SECONDS = 300

export function createOneTimeTokenSigner(options: OneTimeTokenSignerOptions): OneTimeTokenSigner {
  const { kty, crv, x, y, d } = options.key.reveal()
  const privateKey = createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' })
  const header = base64UrlOf({ alg: 'ES256', kid: options.kid, typ: 'JWT' })
  return (request) => {
    const nowSeconds = Math.floor(options.clock.now().getTime() / 1000)
    const claims = {
      iss: request.issuer,
      aud: request.audience,
      sub: request.subject,
      ...(request.signing === undefined ? {} : claimsOfSigning(request.signing)),
      // There is no iat on purpose: step-ca refuses one from before its own start, without leeway, so that a hub
      // whose clock is a little behind would be locked out after every restart of the CA.
      nbf: nowSeconds - BACKDATE_SECONDS,
      exp: nowSeconds + LIFE_SECONDS,
      jti: randomUUID(),
    }
    const signed = `${header}.${base64UrlOf(claims)}`
    return `${signed}.${signEs256(signed, privateKey).toString('base64url')}`
  }
}

function base64UrlOf(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

const COORDINATE_BYTES = 32

/**
 * RFC 7518, 3.4: both numbers, each in 32 bytes. In this thread and at once: WebCrypto takes three times as long to hand it to
 * another one. Node would write the numbers in this form too, and asks then by exceptions what kind of key it has, which costs as
 * much as the signature.
 */
function signEs256(text: string, key: KeyObject): Buffer {
  const der = sign('sha256', Buffer.from(text), key)
  const whole = readDer(der, 0, der.length)
  const numbers = whole && readDerSequence(der, whole, [DerTag.integer, DerTag.integer])
  invariant(numbers, 'a signature of ECDSA is two numbers')
  const signature = Buffer.alloc(2 * COORDINATE_BYTES)
  for (const [at, number] of numbers.entries()) {
    // Without the zero in front of a number whose first bit is set.
    const digits = contentOf(der, number).subarray(-COORDINATE_BYTES)
    digits.copy(signature, (at + 1) * COORDINATE_BYTES - digits.length)
  }
  return signature
}

function claimsOfSigning({
  sans,
  csrSha256,
}: NonNullable<OneTimeTokenRequest['signing']>): Readonly<Record<string, unknown>> {
  return { sans, cnf: { 'x5rt#S256': Buffer.from(csrSha256, 'hex').toString('base64url') } }
}
