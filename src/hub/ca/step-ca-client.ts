// The client of step-ca's API: one deadline for queue, connection and retry; nothing comes back unchecked.

import type { Clock } from '../../platform/clock.ts'
import { startDeadline } from '../../platform/deadline.ts'
import { UserError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Secret } from '../../platform/secret.ts'
import { currentTrace } from '../../platform/trace.ts'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { findIssuedCertificateFault, findRootOf } from '../../pki/issued-certificate.ts'
import { encodePem } from '../../pki/pem.ts'
import { type CaReply, ConnectionFailure, createCaConnection } from './ca-connection.ts'
import { toCaError } from './ca-failure.ts'
import { failureOfReply, parseSignedChain } from './ca-reply.ts'
import { createCallLimiter } from './call-limiter.ts'
import {
  CaError,
  type RootedAuthority,
  type RevocationOutcome,
  type SignedCertificate,
  type SignRequest,
} from './certificate-authority.ts'
import { createOneTimeTokenSigner, type OneTimeTokenRequest } from './one-time-token.ts'
import type { ProvisionerKey } from './provisioner-key.ts'
import { fixedProvisionerName, lookedUpProvisionerName } from './provisioner-name.ts'
import { outcomeOfRevokeReply } from './revoke-reply.ts'

export interface StepCaClientOptions {
  readonly caUrl: URL
  /** One root, or several while one replaces another. */
  readonly rootPem: string
  readonly provisionerKey: Secret<ProvisionerKey>
  readonly provisionerKid: string
  /** Looked up at the CA by the key id when it is not given. */
  readonly provisionerName?: string | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs?: number
  /** So many hubs share the CA's limit; asked before each call. */
  readonly countHubs?: (() => number) | undefined
}

export interface StepCaClient extends RootedAuthority, AsyncDisposable {
  /** Cuts what is under way. */
  close(): Promise<void>
}

const DEADLINE_MS = 10_000
/** Of all hubs together. */
const RUNNING_MAX = 16
/** At each hub. */
const WAITING_MAX = 64
const CLOCK_SKEW_MS_MAX = 60_000
/** RFC 5280, 5.3.1: stolen or retired, the hub is not told. */
const REASON_UNSPECIFIED = 0
/** How much of that an issuer hides that backdates its certificates, when its clock is ahead of the hub's. */
const ISSUER_BACKDATE_MS = 60_000
const SIGN_PATH = '/1.0/sign'
const REVOKE_PATH = '/1.0/revoke'

/** One operation of the CA, whose token goes with it. */
interface Call extends Pick<OneTimeTokenRequest, 'subject' | 'signing'> {
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly onSent?: () => void
}

export function createStepCaClient(options: StepCaClientOptions): StepCaClient {
  const { provisionerKid: kid, clock, logger, deadlineMs = DEADLINE_MS } = options
  const { countHubs = () => 1 } = options
  const { origin } = options.caUrl
  let { rootPem } = options
  let roots = parseRoots(rootPem)
  const connection = createCaConnection({
    origin,
    rootPem,
    connectionsMax: RUNNING_MAX,
  })
  const provisionerName =
    options.provisionerName === undefined
      ? lookedUpProvisionerName(connection, kid, deadlineMs)
      : fixedProvisionerName(options.provisionerName)
  const signToken = createOneTimeTokenSigner({ key: options.provisionerKey, kid, clock })
  const limiter = createCallLimiter({
    runningMax: () => shareOf(RUNNING_MAX, countHubs()),
    waitingMax: WAITING_MAX,
  })

  const askOnce = async (call: Call, signal: AbortSignal): Promise<CaReply> => {
    const { path, fields, onSent, ...claims } = call
    const issuer = await provisionerName.get(signal)
    const ott = signToken({ issuer, audience: `${origin}${path}`, ...claims })
    const body = JSON.stringify({ ...fields, ott })
    const reply = await connection.send({ method: 'POST', path, body, signal, onSent })
    if (reply.status === 401) provisionerName.forget(issuer)
    return reply
  }

  /** The CA may have seen the token of a call that was cut, so the second attempt has one of its own. */
  const askTwice = async (call: Call, signal: AbortSignal): Promise<CaReply> => {
    try {
      return await askOnce(call, signal)
    } catch (error) {
      if (!(error instanceof ConnectionFailure)) throw error
      logger.info({ fault: error.message }, 'connection to the CA lost, trying once more')
      return askOnce(call, signal)
    }
  }

  const ask = async (call: Call, signal: AbortSignal): Promise<CaReply> => {
    const leave = await limiter.enter(signal)
    if (leave === undefined) throw new CaError('overloaded', 'too many calls to the CA are waiting')
    // The caller leaves at the deadline; the place is free once the connection is, so that the callers who gave up a silent CA
    // are never more than there are places: each costs the CA a connection when the CA answers again.
    return unlessAborted(askTwice(call, signal).finally(leave), signal)
  }

  const sign = async (request: SignRequest): Promise<SignedCertificate> => {
    using deadline = startDeadline(deadlineMs)
    const { csr, commonName, sans, lifetimeSeconds } = request
    let timesSent = 0
    const call: Call = {
      path: SIGN_PATH,
      subject: commonName,
      signing: { sans, csrSha256: csr.sha256 },
      onSent: () => (timesSent += 1),
      fields: {
        csr: encodePem(csr.der, 'CERTIFICATE REQUEST'),
        // A duration, which the CA counts by its own clock.
        ...(lifetimeSeconds !== undefined && { notAfter: `${lifetimeSeconds}s` }),
      },
    }
    try {
      const reply = await ask(call, deadline.signal)
      if (reply.status !== 201) throw failureOfReply(reply, 'sign')
      const signed = checkChain(parseSignedChain(reply.body), request, roots, clock.now())
      return { ...signed, isAnotherLost: timesSent > 1 }
    } catch (error) {
      const failure = withLostAnswer(toCaError(error, deadline.signal, deadlineMs), timesSent)
      const { reason, status: ca_status, message: fault, variable } = failure
      logger.warn(
        {
          common_name: commonName,
          reason,
          ca_status,
          fault,
          variable,
          trace_id: currentTrace()?.traceId,
        },
        'no certificate from the CA',
      )
      throw failure
    }
  }

  const revoke = async (serial: string, signal: AbortSignal): Promise<RevocationOutcome> => {
    using deadline = startDeadline(deadlineMs)
    try {
      const reply = await ask(revokeCall(serial), AbortSignal.any([deadline.signal, signal]))
      return outcomeOfRevokeReply(reply)
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'failed', reason: toCaError(error, deadline.signal, deadlineMs).message }
    }
  }

  const close = (): Promise<void> => connection.close()
  return {
    get rootPem() {
      return rootPem
    },
    useRoots(pem) {
      roots = parseRoots(pem)
      rootPem = pem
      connection.useRoots(pem)
    },
    sign,
    revoke,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What N hubs do together stays within the limit, unless there are more hubs than it has calls. */
function shareOf(callsMax: number, hubs: number): number {
  return Math.max(1, Math.floor(callsMax / Math.max(1, hubs)))
}

/** A no, or a certificate, is the answer to one request; the CA may have signed for any other that it saw. */
function withLostAnswer(failure: CaError, timesSent: number): CaError {
  const { reason, message, cause, status, variable, leaf } = failure
  const isNo = status !== undefined && status >= 400 && status < 500
  const answers = isNo || leaf !== undefined ? 1 : 0
  const isAnswerLost = timesSent > answers
  return new CaError(reason, message, { cause, status, variable, leaf, isAnswerLost })
}

/** The CA names certificates by their serial in decimal, and only knows passive revocation. */
function revokeCall(serialHex: string): Call {
  const serial = BigInt(`0x${serialHex}`).toString()
  const reason = { reasonCode: REASON_UNSPECIFIED, reason: 'agent revoked' }
  return { path: REVOKE_PATH, subject: serial, fields: { serial, passive: true, ...reason } }
}

function checkChain(
  chain: readonly Certificate[],
  { csr, commonName, sans, lifetimeSeconds }: SignRequest,
  roots: readonly Certificate[],
  now: Date,
): SignedCertificate {
  const [leaf, ...rest] = chain
  const fault =
    findIssuedCertificateFault(chain, {
      publicKeySpki: csr.publicKeySpki,
      commonName,
      sans,
      roots,
      now,
      clockSkewMsMax: CLOCK_SKEW_MS_MAX,
    }) ?? findLifetimeFault(leaf, lifetimeSeconds, now)
  if (leaf === undefined || fault !== undefined) {
    const message = `the CA sent an unexpected answer: ${fault}`
    // A certificate for another key is the answer to another request: it may be in use, and what was signed for this one is lost.
    const isOurs = leaf?.publicKeySpki.equals(csr.publicKeySpki) === true
    throw new CaError('wrong_certificate', message, { leaf: isOurs ? leaf : undefined })
  }
  // A root in the chain is of no use: who trusts it has it.
  const intermediates = rest.filter(({ sha256 }) => roots.every((root) => root.sha256 !== sha256))
  return {
    leaf,
    intermediates,
    chainPem: [leaf, ...intermediates].map(({ pem }) => pem).join(''),
    rootSha256: findRootOf(chain, roots)?.sha256,
  }
}

/** A shorter life than was asked for does no harm; a longer one is not what was asked for. */
function findLifetimeFault(
  leaf: Certificate | undefined,
  lifetimeSeconds: number | undefined,
  now: Date,
): string | undefined {
  if (leaf === undefined || lifetimeSeconds === undefined) return undefined
  const lateMs = leaf.notAfter.getTime() - now.getTime() - lifetimeSeconds * 1000
  return lateMs > CLOCK_SKEW_MS_MAX + ISSUER_BACKDATE_MS
    ? `the certificate is valid until ${leaf.notAfter.toISOString()}, and the hub asked for ${lifetimeSeconds} s`
    : undefined
}

function parseRoots(rootPem: string): readonly Certificate[] {
  const roots = parseCertificatesPem(rootPem)
  if (roots.length > 0) return roots
  throw new UserError('no_root', 'the root CA file holds no PEM certificate')
}
