// The client of the PKI of OpenBao, and of Vault, whose API it is: it signs by a role. docs/protocol.md CAX-16 to CAX-21.

import { isIP } from 'node:net'
import type { Clock } from '../../../platform/clock.ts'
import { startDeadline } from '../../../platform/deadline.ts'
import type { Logger } from '../../../platform/logger.ts'
import { encodePem } from '../../../pki/pem.ts'
import { type CaReply, createCaConnection } from '../ca-connection.ts'
import { logNoCertificate, toCaError, withLostAnswer } from '../ca-failure.ts'
import { CA_DEADLINE_MS, type CaLineOptions, CALLS_RUNNING_MAX, createCaLine } from '../ca-line.ts'
import type {
  AuthorityClient,
  CaSetting,
  RevocationOutcome,
  SignedCertificate,
  SignRequest,
} from '../certificate-authority.ts'
import { checkChain, parseRoots } from '../signed-chain.ts'
import { createOpenBaoCall, type OpenBaoRequest } from './openbao-connection.ts'
import { givenToken, keepTokenAlive, type OpenBaoLogin, tokenOfAppRole } from './openbao-login.ts'
import { failureOfOpenBao, outcomeOfRevocation, parseOpenBaoChain } from './openbao-reply.ts'

export interface OpenBaoPki {
  readonly caUrl: URL
  /** Where the secrets engine is enabled, such as `pki`. */
  readonly mount: string
  /** By whose rules it signs. */
  readonly role: string
  readonly namespace?: string | undefined
  readonly login: OpenBaoLogin
  /** By which the hub knows OpenBao's own certificate; undefined where they are the roots of what it signs. */
  readonly tlsRootPem?: string | undefined
}

export interface OpenBaoClientOptions extends OpenBaoPki {
  /** One root, or several while one replaces another. */
  readonly rootPem: string
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs?: number
  readonly countHubs?: CaLineOptions['countHubs']
}

export function createOpenBaoClient(options: OpenBaoClientOptions): AuthorityClient {
  const { mount, login, tlsRootPem, clock, logger, deadlineMs = CA_DEADLINE_MS } = options
  let { rootPem } = options
  let roots = parseRoots(rootPem)
  const connection = createCaConnection({
    origin: options.caUrl.origin,
    rootPem: tlsRootPem ?? rootPem,
    connectionsMax: CALLS_RUNNING_MAX,
  })
  const send = createOpenBaoCall(connection, options.namespace)
  const inLine = createCaLine({ logger, countHubs: options.countHubs })
  const stopping = new AbortController()
  const tokenOptions = { call: send, clock, logger, deadlineMs }
  const tokens =
    login.by === 'token' ? givenToken(login.token) : tokenOfAppRole(login, tokenOptions)
  if (login.by === 'token') void keepTokenAlive(login.token, tokenOptions, stopping.signal)
  const credential = credentialOf(login)
  const failureOf = (error: unknown, signal: AbortSignal) =>
    toCaError(error, signal, deadlineMs, rootsSettingOf(options))

  const askOnce = async (request: OpenBaoRequest): Promise<CaReply> => {
    const token = await tokens.get(request.signal)
    const reply = await send({ ...request, token })
    if (reply.status === 403) tokens.forget(token)
    return reply
  }

  /** A token can end at any time: after a no that may be due to that it is asked once more, with a new one. */
  const ask = (request: OpenBaoRequest, onNo?: () => void): Promise<CaReply> =>
    inLine(async () => {
      const reply = await askOnce(request)
      if (reply.status !== 403 || login.by === 'token') return reply
      onNo?.()
      return askOnce(request)
    }, request.signal)

  const sign = async (request: SignRequest): Promise<SignedCertificate> => {
    using deadline = startDeadline(deadlineMs)
    let timesSent = 0
    let reply: CaReply | undefined
    try {
      const call: OpenBaoRequest = {
        method: 'POST',
        path: `/v1/${mount}/sign/${options.role}`,
        fields: signFields(request),
        signal: deadline.signal,
        onSent: () => (timesSent += 1),
      }
      reply = await ask(call, () => (timesSent -= 1))
      if (reply.status !== 200) throw failureOfOpenBao(reply, 'sign', credential)
      const signed = checkChain(parseOpenBaoChain(reply.body), request, roots, clock.now())
      return { ...signed, isAnotherLost: timesSent > 1 }
    } catch (error) {
      const failure = withLostAnswer(failureOf(error, deadline.signal), timesSent, reply)
      logNoCertificate(logger, request, failure)
      throw failure
    }
  }

  const revoke = async (serial: string, signal: AbortSignal): Promise<RevocationOutcome> => {
    using deadline = startDeadline(deadlineMs)
    try {
      const reply = await ask({
        method: 'POST',
        path: `/v1/${mount}/revoke`,
        fields: { serial_number: withColons(serial) },
        signal: AbortSignal.any([deadline.signal, signal]),
      })
      return outcomeOfRevocation(reply, credential)
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'failed', reason: failureOf(error, deadline.signal).message }
    }
  }

  const close = async (): Promise<void> => {
    stopping.abort()
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
    sign,
    revoke,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The role decides whether these names are taken, or those of the CSR: what comes back is held against the names. */
function signFields({ csr, commonName, sans, lifetimeSeconds }: SignRequest) {
  return {
    csr: encodePem(csr.der, 'CERTIFICATE REQUEST'),
    common_name: commonName,
    alt_names: sans.filter((name) => isIP(name) === 0).join(','),
    ip_sans: sans.filter((name) => isIP(name) !== 0).join(','),
    ...(lifetimeSeconds !== undefined && { ttl: `${lifetimeSeconds}s` }),
  }
}

/** The setting that a token which is not accepted speaks of. */
export function credentialOf(login: OpenBaoLogin): (reply: CaReply) => CaSetting | undefined {
  const setting = login.by === 'token' ? 'SVC_OPENBAO_TOKEN' : 'SVC_OPENBAO_SECRET_ID'
  return ({ status }) => (status === 401 || status === 403 ? setting : undefined)
}

export function rootsSettingOf({ tlsRootPem }: Pick<OpenBaoPki, 'tlsRootPem'>): CaSetting {
  return tlsRootPem === undefined ? 'SVC_CA_ROOT_CA_PATH' : 'SVC_CA_TLS_ROOT_PATH'
}

/** `0a1b` is `0a:1b` there. */
function withColons(serial: string): string {
  const even = serial.length % 2 === 0 ? serial : `0${serial}`
  return even.match(/../g)?.join(':') ?? even
}
