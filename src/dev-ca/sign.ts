// POST /1.0/sign: a CSR and a one-time token become a certificate.

import type { Clock } from '../platform/clock.ts'
import type { CertificateRequest } from '../pki/csr.ts'
import { findCsrFault, readCsr } from './csr-rules.ts'
import { type GoTime, parseGoTime } from './go-time.ts'
import type { Issuer } from './issuer.ts'
import { jsonReply, refusalReply, refuse, type Refusal, type Reply } from './reply.ts'
import type { TokenClaims, TokenVerifier } from './token-verifier.ts'
import { decideValidity, type ValidityLimits } from './validity.ts'

export interface SignDependencies {
  readonly issuer: Issuer
  readonly tokens: TokenVerifier
  readonly validityLimits: ValidityLimits
  readonly clock: Clock
}

interface SignBody {
  readonly csr: CertificateRequest | 'unacceptable_key'
  readonly ott: string
  readonly notBefore: GoTime | undefined
  readonly notAfter: GoTime | undefined
}

const TLS_OPTIONS = {
  cipherSuites: [
    'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  ],
  minVersion: 1.2,
  maxVersion: 1.3,
  renegotiation: false,
}

export async function sign(dependencies: SignDependencies, json: unknown): Promise<Reply> {
  const body = await parseSignBody(json)
  if ('status' in body) return refusalReply(body)
  const verdict = await dependencies.tokens.verify(body.ott, 'sign')
  if (!verdict.ok) return refusalReply(verdict)
  return issue(dependencies, body, verdict.claims)
}

async function issue(
  { issuer, validityLimits, clock }: SignDependencies,
  body: SignBody,
  claims: TokenClaims,
): Promise<Reply> {
  const { csr } = body
  if (csr === 'unacceptable_key') {
    return refusalReply(refuse(403, 'certificate request key is not acceptable'))
  }
  const fault = findCsrFault(csr, claims)
  if (fault !== undefined) return refusalReply(fault)
  const validity = decideValidity(body, validityLimits, clock.now())
  if (!validity.ok) return refusalReply(validity)
  const leafPem = await issuer.issueLeaf({
    publicKeySpki: csr.publicKeySpki,
    commonName: claims.subject,
    sans: claims.sans,
    notBefore: validity.notBefore,
    notAfter: validity.notAfter,
  })
  return jsonReply(201, {
    crt: leafPem,
    ca: issuer.certificatePem,
    certChain: [leafPem, issuer.certificatePem],
    tlsOptions: TLS_OPTIONS,
  })
}

async function parseSignBody(json: unknown): Promise<SignBody | Refusal> {
  if (typeof json !== 'object' || json === null) return refuse(400, 'error reading request body')
  const { csr: csrPem, ott, notBefore, notAfter } = json as Readonly<Record<string, unknown>>
  if (typeof csrPem !== 'string' || csrPem === '') return refuse(400, 'missing csr')
  const csr = readCsr(csrPem)
  if (csr === 'malformed') return refuse(400, 'invalid csr')
  if (typeof ott !== 'string' || ott === '') return refuse(400, 'missing ott')
  const start = parseOptionalTime(notBefore)
  const end = parseOptionalTime(notAfter)
  if (start === 'malformed' || end === 'malformed')
    return refuse(400, 'invalid notBefore or notAfter')
  return { csr, ott, notBefore: start, notAfter: end }
}

function parseOptionalTime(value: unknown): GoTime | undefined | 'malformed' {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? (parseGoTime(value) ?? 'malformed') : 'malformed'
}
