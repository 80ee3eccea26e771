// The client of an ACME CA (RFC 8555): it signs what a CSR names, once the hub has proved that it controls the names.
// docs/protocol.md CAX-24 to CAX-32.

import { isIP } from 'node:net'
import type { Clock } from '../../../platform/clock.ts'
import { startDeadline } from '../../../platform/deadline.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import { type CaReply, createCaConnection } from '../ca-connection.ts'
import { toCaError } from '../ca-failure.ts'
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
import { proveNames, readUntil, requireStatus } from './acme-order.ts'
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

export const WHY_NO_LIFETIME = 'an ACME CA decides by itself how long its certificates live'
const WHY_NO_REVOCATION =
  'an ACME CA revokes by the certificate itself, which the hub does not keep; it ends with its lifetime'
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
    prove: (names, signal) =>
      proveNames(names, prove, signal).catch((error: unknown) => {
        throw failureOf(error, signal)
      }),
    clock,
    logger,
    stopping: stopping.signal,
  })
  const failureOf = (error: unknown, signal: AbortSignal): CaError =>
    toCaError(error, signal, deadlineMs, rootsSettingOf(options), 'SVC_ACME_DIRECTORY')

  /** From here on the CA may sign; `note` hears whether it may have. */
  const finalize = async (
    taken: TakenOrder,
    { csr }: SignRequest,
    signal: AbortSignal,
    note: (mayBeSigned: boolean) => void,
  ): Promise<readonly Certificate[]> => {
    const { url, finalizeUrl } = taken.order
    const payload = { csr: csr.der.toString('base64url') }
    const reply = await session.post({
      url: finalizeUrl,
      payload,
      signal,
      onSent: () => note(true),
      onNotDone: () => note(false),
    })
    if (reply.status !== 200) {
      const failure = failureOfAcme(reply, 'sign')
      if (reply.status < 500) note(false)
      if (problemOf(reply) === 'badCSR') taken.giveBack()
      else if (failure.reason === 'refused') taken.refuse(failure)
      throw failure
    }
    const first = objectIn(reply.body)
    const isUnderWay = (status: unknown): boolean => status === 'processing' || status === 'ready'
    const order = isUnderWay(first['status'])
      ? await readUntil(url, (status) => !isUnderWay(status), { session, clock }, signal)
      : first
    if (order['status'] === 'invalid') note(false)
    requireStatus(order, 'valid', 'the order')
    const { certificate } = order
    if (typeof certificate !== 'string') return []
    const read = { url: certificate, payload: null, accept: CHAIN_TYPE, signal }
    return parsePemChain(await session.post(read))
  }

  const sign = async (request: SignRequest): Promise<SignedCertificate> => {
    using deadline = startDeadline(deadlineMs)
    const { signal } = deadline
    let mayBeSigned = false
    try {
      const why = findImpossible(request, options.challengeType)
      if (why !== undefined) throw new CaError('refused', why)
      const until = session.pausedUntil()
      if (until !== undefined) throw leftAlone(until)
      const order = await orders.take(request.sans, signal)
      const note = (isPossible: boolean): void => void (mayBeSigned = isPossible)
      const chain = await finalize(order, request, signal, note)
      return checkChain(chain, request, roots, clock.now(), { isCommonNameOptional: true })
    } catch (error) {
      const failure = explain(failureOf(error, signal), mayBeSigned)
      const { reason, status: ca_status, message: fault, variable } = failure
      logger.warn(
        { common_name: request.commonName, reason, ca_status, fault, variable },
        'no certificate from the CA',
      )
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

function explain(failure: CaError, mayBeSigned: boolean): CaError {
  const { reason, message, cause, status, variable, leaf } = failure
  if (reason === 'timeout' && !mayBeSigned) {
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
