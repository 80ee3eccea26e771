// The key of the hub's account at an ACME CA, and what it signs there: RFC 8555, 6.2 and 7.3.4, RFC 7515, RFC 7638.

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  sign,
} from 'node:crypto'
import { UserError } from '../../../platform/errors.ts'
import { Secret } from '../../../platform/secret.ts'

export interface AccountKey {
  readonly jwk: PublicJwk
  readonly thumbprint: string
  readonly keyObject: Secret<KeyObject>
}

interface PublicJwk {
  readonly crv: string
  readonly kty: string
  readonly x: string
  readonly y: string
}

/** By which an operator of the CA knows whose account it is. */
export interface ExternalAccount {
  readonly kid: string
  readonly key: Secret<Buffer>
}

/** Reads a private EC P-256 key, PEM; a UserError says what is wrong with it, and never quotes it. */
export function parseAccountKey(pem: string): AccountKey {
  let keyObject: KeyObject
  try {
    keyObject = createPrivateKey(pem)
  } catch {
    // OpenSSL's own message may quote the text, which is a secret.
    throw invalidKey('is no private key in PEM')
  }
  if (keyObject.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw invalidKey('is not an EC key on P-256')
  }
  const { x = '', y = '' } = createPublicKey(keyObject).export({ format: 'jwk' })
  // In the order of RFC 7638.
  const jwk = { crv: 'P-256', kty: 'EC', x, y }
  const thumbprint = hash('sha256', JSON.stringify(jwk), 'base64url')
  return { jwk, thumbprint, keyObject: new Secret(keyObject) }
}

function invalidKey(fault: string): UserError {
  return new UserError('config_invalid', `SVC_ACME_ACCOUNT_KEY: it ${fault}`, {
    hint: 'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out acme-account.pem',
  })
}

/** What proves control over a name: RFC 8555, 8.1. It is no secret: the CA looks it up in public. */
export function keyAuthorization(token: string, { thumbprint }: AccountKey): string {
  return `${token}.${thumbprint}`
}

export interface Signed {
  readonly url: string
  readonly nonce: string
  /** Undefined before the account has one; the key itself then says whose it is. */
  readonly kid: string | undefined
  /** Null asks to read (POST-as-GET). */
  readonly payload: object | null
}

/** A flattened JWS, ES256. */
export function signRequest({ keyObject, jwk }: AccountKey, request: Signed): string {
  const { url, nonce, kid, payload } = request
  const header = { alg: 'ES256', nonce, url, ...(kid === undefined ? { jwk } : { kid }) }
  const encoded = { protected: encode(header), payload: payload === null ? '' : encode(payload) }
  const signature = sign('sha256', Buffer.from(`${encoded.protected}.${encoded.payload}`), {
    key: keyObject.reveal(),
    dsaEncoding: 'ieee-p1363',
  })
  return JSON.stringify({ ...encoded, signature: signature.toString('base64url') })
}

/** A JWS within that of newAccount, HS256, which binds the key to the operator's account. */
export function signExternalAccount(
  { jwk }: AccountKey,
  { kid, key }: ExternalAccount,
  url: string,
): object {
  const encoded = { protected: encode({ alg: 'HS256', kid, url }), payload: encode(jwk) }
  const signature = createHmac('sha256', key.reveal())
    .update(`${encoded.protected}.${encoded.payload}`)
    .digest('base64url')
  return { ...encoded, signature }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
