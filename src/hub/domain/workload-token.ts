// The token of a workload's platform (a JWT, RFC 7519): what it says of itself, and which join rule it is for. Pure; the signature
// is looked at elsewhere. docs/protocol.md JNR-17 to JNR-22.

import { hash } from 'node:crypto'
import type { WorkloadProof } from './workload-proof.ts'

export interface WorkloadToken {
  readonly text: string
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly expiresAt: Date
  readonly notBefore: Date | undefined
  /** Of the one use. */
  readonly id: string
  readonly subject: string | undefined
  readonly claims: Readonly<Record<string, unknown>>
}

export const WORKLOAD_TOKEN_CHARACTERS_MAX = 8192
/** Of the hub's clock and the issuer's. */
export const CLOCK_TOLERANCE_SECONDS = 60
const LIFETIME_MS_MAX = 24 * 3_600_000
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** What no token of the hub's own looks like. */
export function isWorkloadToken(text: string): boolean {
  return COMPACT.test(text)
}

/** Undefined for what is no JWT with an issuer and an end. */
export function parseWorkloadToken(text: string): WorkloadToken | undefined {
  if (text.length > WORKLOAD_TOKEN_CHARACTERS_MAX || !isWorkloadToken(text)) return undefined
  const [, body = ''] = text.split('.')
  const claims = parseObject(Buffer.from(body, 'base64url').toString('utf8'))
  if (claims === undefined) return undefined
  const { iss, aud, exp, nbf, jti, sub } = claims
  if (typeof iss !== 'string' || !isSeconds(exp)) return undefined
  if (nbf !== undefined && !isSeconds(nbf)) return undefined
  // What is signed: one signature can be written in several ways, and of ECDSA anybody makes a second one of a first.
  const signed = text.slice(0, text.lastIndexOf('.'))
  const unique = typeof jti === 'string' && jti !== '' ? `jti\n${jti}` : `text\n${signed}`
  return {
    text,
    issuer: iss,
    audiences: [aud].flat().filter((each) => typeof each === 'string'),
    expiresAt: new Date(exp * 1000),
    notBefore: nbf === undefined ? undefined : new Date(nbf * 1000),
    id: hash('sha256', `${iss}\n${unique}`),
    subject: typeof sub === 'string' ? sub : undefined,
    claims,
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < 1e11
}

export type WorkloadFault = 'audience' | 'lifetime' | 'claim' | 'hostname_claim'

/** What needs no signature to be known. */
export function findTimeFault(
  { audiences, expiresAt, notBefore }: WorkloadToken,
  { audience }: WorkloadProof,
  now: Date,
): Extract<WorkloadFault, 'audience' | 'lifetime'> | undefined {
  if (!audiences.includes(audience)) return 'audience'
  const left = expiresAt.getTime() - now.getTime()
  const toleranceMs = CLOCK_TOLERANCE_SECONDS * 1000
  if (left <= -toleranceMs || left > LIFETIME_MS_MAX + toleranceMs) return 'lifetime'
  const isEarly = notBefore !== undefined && notBefore.getTime() > now.getTime() + toleranceMs
  return isEarly ? 'lifetime' : undefined
}

/** Of a token that its issuer has signed. */
export function findClaimFault(
  { claims }: WorkloadToken,
  { claims: wanted, hostnameClaim }: WorkloadProof,
  hostname: string,
): Extract<WorkloadFault, 'claim' | 'hostname_claim'> | undefined {
  const isThere = wanted.every(({ claim, values }) =>
    textsOf(claims, claim).some((text) => values.some((value) => coversText(value, text))),
  )
  if (!isThere) return 'claim'
  if (hostnameClaim === null) return undefined
  const [firstLabel = ''] = hostname.split('.')
  const said = textsOf(claims, hostnameClaim)
  return said.includes(hostname) || said.includes(firstLabel) ? undefined : 'hostname_claim'
}

/** A value that ends in `*` is for all that begins with the rest. */
function coversText(value: string, text: string): boolean {
  return value.endsWith('*') ? text.startsWith(value.slice(0, -1)) : text === value
}

/** By name, or by a JSON pointer (RFC 6901); of a list each member. */
function textsOf(claims: Readonly<Record<string, unknown>>, claim: string): string[] {
  const keys = claim.startsWith('/') ? claim.slice(1).split('/').map(unescape) : [claim]
  let value: unknown = claims
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return []
    value = (value as Record<string, unknown>)[key]
  }
  return [value].flat().flatMap((each) => {
    return ['string', 'number', 'boolean'].includes(typeof each) ? [String(each)] : []
  })
}

function unescape(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
