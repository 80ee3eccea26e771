// The private JWK (RFC 7517) with which the hub signs one-time tokens for the CA.

import { createECDH } from 'node:crypto'
import { UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'

export interface ProvisionerKey {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  /** The id that the JWK itself names, if it names one. */
  readonly kid?: string
  readonly x: string
  readonly y: string
  readonly d: string
}

const COORDINATE = /^[A-Za-z0-9_-]{43}$/

/** Reads a private EC P-256 JWK; a UserError says what is wrong with it, and never quotes it. */
export function parseProvisionerKey(json: string): Secret<ProvisionerKey> {
  const jwk = parseObject(json)
  const { kty, crv, alg = 'ES256', kid, x, y, d } = jwk
  if (kty !== 'EC' || crv !== 'P-256' || alg !== 'ES256') {
    throw invalidKey('is not an EC P-256 key for ES256')
  }
  if (d === undefined) throw invalidKey('has no private part (d)')
  if (!isCoordinate(x) || !isCoordinate(y) || !isCoordinate(d)) {
    throw invalidKey('has an x, y or d that is not 32 bytes of base64url')
  }
  if (kid !== undefined && (typeof kid !== 'string' || kid === '')) {
    throw invalidKey('has a kid that is not a string')
  }
  if (!isKeyPair(x, y, d)) throw invalidKey('has a private part that does not fit its public part')
  return new Secret({ kty, crv, x, y, d, ...(kid === undefined ? {} : { kid }) })
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    // The parser's own message quotes the text, which is a secret.
    throw invalidKey('is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidKey('is not a JSON object')
  }
  if ('ciphertext' in value) throw invalidKey('is encrypted')
  return value as Readonly<Record<string, unknown>>
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && COORDINATE.test(value)
}

/** A CA would answer every token of a mismatched pair with 401, so it is better found here. */
function isKeyPair(x: string, y: string, d: string): boolean {
  const ecdh = createECDH('prime256v1')
  try {
    ecdh.setPrivateKey(d, 'base64url')
  } catch {
    // Zero, or not below the order of the curve.
    return false
  }
  const publicPoint = Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ])
  return ecdh.getPublicKey().equals(publicPoint)
}

function invalidKey(fault: string): UserError {
  return new UserError('provisioner_key_invalid', `the CA provisioner key ${fault}`, {
    hint: 'it is the private JWK of the provisioner on one line, with kty, crv, alg, kid, x, y and d',
  })
}
