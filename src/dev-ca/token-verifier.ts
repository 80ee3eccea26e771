// Decides whether a one-time token (RFC 7519) opens an operation, by the rules of step-ca's JWK provisioner.

import { hash, createPublicKey } from 'node:crypto'
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose'
import type { Clock } from '../platform/clock.ts'
import type { ProvisionerPublicJwk } from './provisioner.ts'
import { refuse, type Refusal } from './reply.ts'
import { createUsedTokens } from './used-tokens.ts'

export type Operation = 'sign' | 'revoke'

export interface TokenClaims {
  readonly subject: string
  /** The names that the certificate will have: the token's names, or its subject when it has no names. */
  readonly sans: readonly string[]
  /** base64url SHA-256 of the only CSR that the token may be used with. */
  readonly csrFingerprint: string | undefined
}

export type TokenVerdict = { readonly ok: true; readonly claims: TokenClaims } | Refusal

export interface TokenVerifier {
  verify(token: string, operation: Operation): Promise<TokenVerdict>
}

export interface TokenVerifierOptions {
  readonly provisionerName: string
  readonly provisionerKey: ProvisionerPublicJwk
  /** The names by which clients call this CA; ports do not matter. */
  readonly dnsNames: readonly string[]
  readonly clock: Clock
}

interface Token {
  readonly text: string
  readonly kid: string | undefined
  readonly issuer: string | undefined
  readonly subject: string
  readonly audiences: readonly string[]
  readonly identifier: string
  readonly issuedAtMs: number | undefined
  readonly notBeforeMs: number | undefined
  readonly expiresAtMs: number
  readonly sans: readonly string[]
  readonly csrFingerprint: string | undefined
}

const LEEWAY_MS = 60_000

export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { provisionerName, provisionerKey, clock } = options
  // To the second, as the iat of a token is.
  const startedAtMs = Math.floor(clock.now().getTime() / 1000) * 1000
  const publicKey = createPublicKey({ key: { ...provisionerKey }, format: 'jwk' })
  const usedTokens = createUsedTokens()

  const isSignedByProvisioner = async ({ text }: Token): Promise<boolean> => {
    try {
      await compactVerify(text, publicKey, { algorithms: ['ES256'] })
      return true
    } catch {
      // Every way of not being signed by the provisioner has the same answer.
      return false
    }
  }

  const verify = async (text: string, operation: Operation): Promise<TokenVerdict> => {
    const token = parseToken(text)
    if (token === undefined) return refuse(401, 'error parsing token')
    if (token.kid !== provisionerKey.kid || token.issuer !== provisionerName) {
      return refuse(401, 'provisioner not found or invalid audience')
    }
    if (token.issuedAtMs !== undefined && token.issuedAtMs < startedAtMs) {
      return refuse(401, 'token issued before the bootstrap of certificate authority')
    }
    if (!(await isSignedByProvisioner(token))) return refuse(401, 'error verifying token')
    // Marked as used here, whatever the outcome: a token that failed once must not work later.
    const now = clock.now()
    const expiresAt = new Date(token.expiresAtMs + LEEWAY_MS)
    if (!usedTokens.use(token.identifier, expiresAt, now)) return refuse(401, 'token already used')
    const fault = findClaimsFault(token, audiencesOf(options.dnsNames, operation), now)
    return fault === undefined ? { ok: true, claims: claimsOf(token) } : refuse(401, fault)
  }
  return { verify }
}

function findClaimsFault(
  token: Token,
  audiences: readonly string[],
  now: Date,
): string | undefined {
  const nowMs = now.getTime()
  if ((token.notBeforeMs ?? 0) > nowMs + LEEWAY_MS) return 'token not valid yet (nbf)'
  if ((token.issuedAtMs ?? 0) > nowMs + LEEWAY_MS) return 'token issued in the future (iat)'
  if (token.expiresAtMs < nowMs - LEEWAY_MS) return 'token is expired (exp)'
  if (!token.audiences.some((audience) => audiences.includes(withoutPort(audience)))) {
    return 'invalid token audience claim (aud)'
  }
  return token.subject === '' ? 'token subject cannot be empty' : undefined
}

function audiencesOf(dnsNames: readonly string[], operation: Operation): string[] {
  return dnsNames.flatMap((name) => {
    const host = name.includes(':') ? `[${name}]` : name
    return [`https://${host}/1.0/${operation}`, `https://${host}/${operation}`]
  })
}

function withoutPort(url: string): string {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  parsed.port = ''
  return parsed.href
}

function claimsOf({ subject, sans, csrFingerprint }: Token): TokenClaims {
  const names = sans.length === 0 ? [subject] : sans.filter((name) => name !== '')
  return { subject, sans: [...new Set(names)], csrFingerprint }
}

/** The token as it describes itself, not verified; undefined when it is not a token with an expiry. */
function parseToken(text: string): Token | undefined {
  try {
    const header = decodeProtectedHeader(text)
    const claims = decodeJwt<{ sans?: unknown; cnf?: { 'x5rt#S256'?: unknown } }>(text)
    const fingerprint = claims.cnf?.['x5rt#S256']
    const sans = claims.sans ?? []
    if (!isStringArray(sans)) return undefined
    if (fingerprint !== undefined && typeof fingerprint !== 'string') return undefined
    if (typeof claims.exp !== 'number') return undefined
    return {
      text,
      kid: header.kid,
      issuer: claims.iss,
      subject: claims.sub ?? '',
      audiences: [claims.aud ?? []].flat(),
      identifier: claims.jti ?? hash('sha256', text, 'hex'),
      issuedAtMs: inMilliseconds(claims.iat),
      notBeforeMs: inMilliseconds(claims.nbf),
      expiresAtMs: claims.exp * 1000,
      sans,
      csrFingerprint: fingerprint,
    }
  } catch {
    // Whatever the decoder dislikes about hostile text, the answer is the same.
    return undefined
  }
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
