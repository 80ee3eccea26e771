// The client of an ACME CA (RFC 8555): it signs what a CSR names, once the hub has proved that it controls the names.
// docs/protocol.md CAX-24 to CAX-34.

import { isIP } from 'node:net'
import type { Clock } from '../../../platform/clock.ts'
import { startDeadline } from '../../../platform/deadline.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import { type CaReply, createCaConnection } from '../ca-connection.ts'
import { logNoCertificate, toCaError } from '../ca-failure.ts'
import { CA_DEADLINE_MS, CALLS_RUNNING_MAX } from '../ca-line.ts'
import { parseChain } from '../ca-reply.ts'
import {
  type AuthorityClient,
  CaError,
  type CaSetting,
  type SignedCertificate,
  type SignRequest,
} from '../certificate-authority.ts'
import { checkChain, parseRoots } from '../signed-chain.ts'
import type { AccountKey, ExternalAccount } from './acme-account-key.ts'
import type { ChallengeType, RunHook } from './acme-hook.ts'
import {
  type AcmeOrder,
  failureOfNames,
  NamesNotProved,
  proveNames,
  type ReadOptions,
  readUntil,
  requireStatus,
} from './acme-order.ts'
import { failureOfAcme, objectIn, problemOf } from './acme-reply.ts'
import { createAcmeSession, leftAlone } from './acme-session.ts'
import { createReadyOrders, type TakenOrder } from './ready-orders.ts'

export interface AcmeAuthority {
  readonly directoryUrl: URL
  readonly accountKey: AccountKey
  readonly externalAccount?: ExternalAccount | undefined
  readonly challengeType: ChallengeType
  /** By which the hub knows the CA's server; undefined where they are the roots of what it signs. */
  readonly tlsRootPem?: string | undefined
}

export interface AcmeClientOptions extends AcmeAuthority {
  readonly runHook: RunHook
  /** One root, or several while one replaces another. */
  readonly rootPem: string
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs?: number
}

type OrderFate =
  /** Good for another CSR. */
  | 'unused'
  | 'may_be_signed'
  | 'not_signed'
  /** The CA does not know it as ready any more, and the names are at no fault. */
  | 'gone'

export const WHY_NO_LIFETIME = 'an ACME CA decides by itself how long its certificates live'
const WHY_NO_REVOCATION =
  'an ACME CA revokes by the certificate itself, which the hub does not keep; it ends with its lifetime'
/** Of the time for one request: an order that is ready later waits for the next one. */
const READY_WITHIN = 0.5
const CHAIN_TYPE = 'application/pem-certificate-chain'

export function createAcmeClient(options: AcmeClientOptions): AuthorityClient {
  const { directoryUrl, tlsRootPem, clock, logger, deadlineMs = CA_DEADLINE_MS } = options
  let { rootPem } = options
  let roots = parseRoots(rootPem)
  const connection = createCaConnection({
    origin: directoryUrl.origin,
    rootPem: tlsRootPem ?? rootPem,
    connectionsMax: CALLS_RUNNING_MAX,
  })
  const session = createAcmeSession({ ...options, connection, deadlineMs })
  const stopping = new AbortController()
  const prove = { ...options, session }
  const orders = createReadyOrders({
    prove: (names, signal, onOrdered) =>
      proveNames(names, prove, signal, onOrdered).catch((error: unknown) => {
        throw failureOf(error, signal)
      }),
    clock,
    logger,
    stopping: stopping.signal,
  })
  const failureOf = (error: unknown, signal: AbortSignal): CaError =>
    toCaError(error, signal, deadlineMs, rootsSettingOf(options), 'SVC_ACME_DIRECTORY')

  /** From here on the CA may sign; `note` hears what became of the order so far. */
  const finalize = async (
    { url, finalizeUrl }: AcmeOrder,
    { csr, sans: names }: SignRequest,
    signal: AbortSignal,
    note: (fate: OrderFate) => void,
  ): Promise<readonly Certificate[]> => {
    const payload = { csr: csr.der.toString('base64url') }
    const reply = await session.post({
      url: finalizeUrl,
      payload,
      signal,
      names,
      onSent: () => note('may_be_signed'),
      onNotDone: () => note('unused'),
    })
    if (reply.status !== 200) {
      note(fateAfter(reply))
      throw failureOfNames(reply, 'sign', clock)
    }
    // What is read from now on is a certificate that the CA may have signed.
    const reading: ReadOptions = {
      clock,
      session: { post: (asked) => session.post({ ...asked, evenPaused: true }) },
    }
    const first = objectIn(reply.body)
    const isUnderWay = (status: unknown): boolean => status === 'processing' || status === 'ready'
    const order = isUnderWay(first['status'])
      ? await readUntil(url, (status) => !isUnderWay(status), reading, signal)
      : first
    if (order['status'] === 'invalid') note('not_signed')
    requireStatus(order, 'valid', 'the order')
    const { certificate } = order
    if (typeof certificate !== 'string') return []
    const read = { url: certificate, payload: null, accept: CHAIN_TYPE, signal }
    return parsePemChain(await reading.session.post(read))
  }

  const sign = async (request: SignRequest): Promise<SignedCertificate> => {
    using deadline = startDeadline(deadlineMs)
    // A certificate that is signed when the time is over is lost.
    using ready = startDeadline(deadlineMs * READY_WITHIN)
    const { signal } = deadline
    let taken: TakenOrder | undefined
    let fate = 'unused' as OrderFate
    try {
      const why = findImpossible(request, options.challengeType)
      if (why !== undefined) throw new CaError('refused', why)
      const until = session.pausedUntil()
      if (until !== undefined) throw leftAlone(until)
      taken = await orders.take(request.sans, ready.signal)
      const chain = await finalize(taken.order, request, signal, (now) => (fate = now))
      const signed = checkChain(chain, request, roots, clock.now(), { isCommonNameOptional: true })
      taken.done()
      return signed
    } catch (error) {
      const found = failureOf(error, signal)
      const isProofUnderWay = ready.signal.aborted && fate === 'unused'
      const failure = explain(found, isProofUnderWay, fate === 'may_be_signed')
      if (fate === 'unused') taken?.giveBack()
      // Whatever it was, the next order would cost the account as much as this one.
      else if (fate !== 'gone') taken?.refuse(failure)
      if (fate === 'unused' && error instanceof NamesNotProved) taken?.refuse(error)
      logNoCertificate(logger, request, failure)
      throw failure
    }
  }

  const close = async (): Promise<void> => {
    stopping.abort(new Error('the hub is stopping'))
    await connection.close()
  }
  return {
    get rootPem() {
      return rootPem
    },
    useRoots(pem) {
      roots = parseRoots(pem)
      rootPem = pem
      orders.forgive('wrong_certificate')
      if (tlsRootPem === undefined) connection.useRoots(pem)
    },
    whyNoLifetime: WHY_NO_LIFETIME,
    takesNamesOfCsr: true,
    sign,
    revoke: (_serial, signal) =>
      signal.aborted
        ? Promise.reject(signal.reason as Error)
        : Promise.resolve({ kind: 'refused', reason: WHY_NO_REVOCATION }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Why no ACME CA signs this: then it is not asked, and its limits are spared. */
function findImpossible(
  { csr, sans, lifetimeSeconds }: SignRequest,
  challengeType: ChallengeType,
): string | undefined {
  if (lifetimeSeconds !== undefined) return WHY_NO_LIFETIME
  const address = sans.find((name) => isIP(name) !== 0)
  if (address !== undefined) return `an ACME CA signs names, and ${address} is an address`
  const wildcard = sans.find((name) => name.startsWith('*.'))
  if (wildcard !== undefined && challengeType !== 'dns-01') {
    return `${wildcard} can be proved by dns-01 alone, and SVC_ACME_CHALLENGE is ${challengeType}`
  }
  const asked = new Set([
    ...(csr.sans ?? []),
    ...(csr.commonName === undefined ? [] : [csr.commonName]),
  ])
  if (asked.size === new Set(sans).size && sans.every((name) => asked.has(name))) return undefined
  return `an ACME CA takes the names from the CSR, which has ${[...asked].join(', ')} and not ${sans.join(', ')}`
}

/** What an answer other than a success makes of the order. A proxy may answer anything but a 4xx for a CA that has signed. */
function fateAfter(reply: CaReply): OrderFate {
  if (reply.status < 400 || reply.status >= 500) return 'may_be_signed'
  if (reply.status === 429) return 'unused'
  switch (problemOf(reply)) {
    case 'badCSR':
    case 'rateLimited':
      return 'unused'
    case 'orderNotReady':
      return 'gone'
    default:
      return 'not_signed'
  }
}

function explain(failure: CaError, isProofUnderWay: boolean, mayBeSigned: boolean): CaError {
  const { reason, message, cause, status, variable, leaf } = failure
  if (reason === 'timeout' && isProofUnderWay) {
    // The CA is at no fault: names take their time.
    const waiting = 'the proof of control over the names goes on; the next request finds it done'
    return new CaError(reason, waiting, { cause })
  }
  const isAnswerLost = mayBeSigned && leaf === undefined
  return new CaError(reason, message, { cause, status, variable, leaf, isAnswerLost })
}

function parsePemChain(reply: CaReply): readonly Certificate[] {
  if (reply.status !== 200) throw failureOfAcme(reply, 'show the certificate')
  try {
    return parseChain(
      reply.body.split(/(?<=-----END CERTIFICATE-----)/).filter((pem) => pem.trim() !== ''),
    )
  } catch {
    // A certificate that does not parse.
    return []
  }
}

export function rootsSettingOf({ tlsRootPem }: Pick<AcmeAuthority, 'tlsRootPem'>): CaSetting {
  return tlsRootPem === undefined ? 'SVC_CA_ROOT_CA_PATH' : 'SVC_ACME_TLS_ROOT_PATH'
}
