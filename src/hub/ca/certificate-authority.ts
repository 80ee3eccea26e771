// The port to the CA, which signs and revokes, of whichever kind it is. docs/protocol.md CAX.

import { SvcError } from '../../platform/errors.ts'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { Certificate } from '../../pki/certificates.ts'

export interface SignRequest {
  readonly csr: CertificateRequest
  /** The one CN that the certificate may have. */
  readonly commonName: string
  /** Exactly the names that the certificate will have; the common name is one of them. */
  readonly sans: readonly string[]
  /** How long it is to live from now on; the CA decides when it is not said, and may refuse it when it is. */
  readonly lifetimeSeconds?: number | undefined
  /** It is for a service of the host, and opens no port of the hub. */
  readonly isDelivered?: boolean
}

/** Leaf and intermediates, checked against the request and the root. */
export interface SignedCertificate {
  readonly leaf: Certificate
  readonly intermediates: readonly Certificate[]
  /** All of them, PEM, leaf first. */
  readonly chainPem: string
  /** SHA-256 of the root that the chain leads to; undefined when the adapter does not know it. */
  readonly rootSha256?: string | undefined
  /** The connection was lost and the CA asked again: it may have signed another one before. */
  readonly isAnotherLost?: boolean | undefined
}

export interface CertificateAuthority {
  /** The roots that are trusted now, PEM; one, or several while one replaces another. */
  readonly rootPem: string
  /** Throws CaError within ten seconds of the call. */
  sign(request: SignRequest): Promise<SignedCertificate>
  /**
   * Revokes the certificate with this serial, lower-case hex; answers within ten seconds of the call. Asking again is
   * always right. Throws the signal's reason when it is aborted.
   */
  revoke(serial: string, signal: AbortSignal, isDelivered?: boolean): Promise<RevocationOutcome>
  /** Why a politica can promise no life of certificates, where this CA lets nobody choose it. */
  readonly whyNoLifetime?: string | undefined
  /** What it signs for a delivery has the names of the CSR, which then has to have them all. */
  readonly takesNamesOfCsr?: boolean | undefined
}

/** One whose roots change. */
export interface RootedAuthority extends CertificateAuthority {
  /** From the next call on these are trusted, and no others. */
  useRoots(rootPem: string): void
}

/** One that is asked over connections. */
export interface AuthorityClient extends RootedAuthority, AsyncDisposable {
  /** Cuts what is under way. */
  close(): Promise<void>
}

export type RevocationOutcome =
  | { readonly kind: 'revoked' }
  /** It was before, perhaps by a call whose answer was lost. */
  | { readonly kind: 'already_revoked' }
  /** The CA will not, however often it is asked. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not now: the CA is away, or something between here and there is wrong. */
  | { readonly kind: 'failed'; readonly reason: string }

/**
 * `refused` says that the CA answered no; `unreachable` that it gave no usable answer, a 5xx included;
 * `wrong_certificate` that its answer is not the certificate that was asked for.
 */
export type CaFailureReason =
  | 'unreachable'
  | 'timeout'
  | 'overloaded'
  | 'refused'
  | 'wrong_certificate'

/** The settings by which the hub knows its CA. */
export type CaSetting =
  | 'SVC_CA_URL'
  | 'SVC_CA_ROOT_CA_PATH'
  | 'SVC_CA_TLS_ROOT_PATH'
  | 'SVC_CA_PROVISIONER_KID'
  | 'SVC_CA_PROVISIONER_KEY'
  | 'SVC_OPENBAO_MOUNT'
  | 'SVC_OPENBAO_ROLE'
  | 'SVC_OPENBAO_NAMESPACE'
  | 'SVC_OPENBAO_TOKEN'
  | 'SVC_OPENBAO_SECRET_ID'
  | 'SVC_ACME_DIRECTORY'
  | 'SVC_ACME_TLS_ROOT_PATH'
  | 'SVC_ACME_ACCOUNT_KEY'
  | 'SVC_ACME_EAB_KID'
  | 'SVC_ACME_EAB_KEY'
  | 'SVC_ACME_HOOK'

interface CaErrorOptions {
  readonly cause?: unknown
  readonly status?: number | undefined
  readonly variable?: CaSetting | undefined
  readonly isAnswerLost?: boolean
  readonly leaf?: Certificate | undefined
}

export class CaError extends SvcError {
  override name = 'CaError'
  readonly reason: CaFailureReason
  /** The HTTP status of the CA's answer, when there was one. */
  readonly status: number | undefined
  /** The setting to look at, when the failure is what a wrong value of it looks like. */
  readonly variable: CaSetting | undefined
  /** The CA may have signed a certificate of which nobody knows the serial. */
  readonly isAnswerLost: boolean
  /** What it sent, which is not what it was asked for. */
  readonly leaf: Certificate | undefined
  constructor(reason: CaFailureReason, message: string, options: CaErrorOptions = {}) {
    super('ca_failed', message, options)
    this.reason = reason
    this.status = options.status
    this.variable = options.variable
    this.isAnswerLost = options.isAnswerLost ?? false
    this.leaf = options.leaf
  }
}
