// The client of step-ca's API: one deadline for queue, connection and retry; nothing comes back unchecked.

import type { Clock } from '../../platform/clock.ts'
import { startDeadline } from '../../platform/deadline.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Secret } from '../../platform/secret.ts'
import { encodePem } from '../../pki/pem.ts'
import { type CaReply, createCaConnection } from './ca-connection.ts'
import { logNoCertificate, toCaError, withLostAnswer } from './ca-failure.ts'
import { CA_DEADLINE_MS, type CaLineOptions, CALLS_RUNNING_MAX, createCaLine } from './ca-line.ts'
import { failureOfReply, parseSignedChain } from './ca-reply.ts'
import type {
  AuthorityClient,
  RevocationOutcome,
  SignedCertificate,
  SignRequest,
} from './certificate-authority.ts'
import { createOneTimeTokenSigner, type OneTimeTokenRequest } from './one-time-token.ts'
import type { ProvisionerKey } from './provisioner-key.ts'
import { fixedProvisionerName, lookedUpProvisionerName } from './provisioner-name.ts'
import { outcomeOfRevokeReply } from './revoke-reply.ts'
import { checkChain, parseRoots } from './signed-chain.ts'

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
  readonly countHubs?: CaLineOptions['countHubs']
}

/** RFC 5280, 5.3.1: stolen or retired, the hub is not told. */
const REASON_UNSPECIFIED = 0
const SIGN_PATH = '/1.0/sign'
const REVOKE_PATH = '/1.0/revoke'

/** One operation of the CA, whose token goes with it. */
interface Call extends Pick<OneTimeTokenRequest, 'subject' | 'signing'> {
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly onSent?: () => void
}

export function createStepCaClient(options: StepCaClientOptions): AuthorityClient {
  const { provisionerKid: kid, clock, logger, deadlineMs = CA_DEADLINE_MS } = options
  const { origin } = options.caUrl
  let { rootPem } = options
  let roots = parseRoots(rootPem)
  const connection = createCaConnection({
    origin,
    rootPem,
    connectionsMax: CALLS_RUNNING_MAX,
  })
  const provisionerName =
    options.provisionerName === undefined
      ? lookedUpProvisionerName(connection, kid, deadlineMs)
      : fixedProvisionerName(options.provisionerName)
  const signToken = createOneTimeTokenSigner({ key: options.provisionerKey, kid, clock })
  const inLine = createCaLine({ logger, countHubs: options.countHubs })

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
  const ask = (call: Call, signal: AbortSignal): Promise<CaReply> =>
    inLine(() => askOnce(call, signal), signal)

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
    let reply: CaReply | undefined
    try {
      reply = await ask(call, deadline.signal)
      if (reply.status !== 201) throw failureOfReply(reply, 'sign')
      const signed = checkChain(parseSignedChain(reply.body), request, roots, clock.now())
      return { ...signed, isAnotherLost: timesSent > 1 }
    } catch (error) {
      const failure = withLostAnswer(
        toCaError(error, deadline.signal, deadlineMs),
        timesSent,
        reply,
      )
      logNoCertificate(logger, request, failure)
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

/** The CA names certificates by their serial in decimal, and only knows passive revocation. */
function revokeCall(serialHex: string): Call {
  const serial = BigInt(`0x${serialHex}`).toString()
  const reason = { reasonCode: REASON_UNSPECIFIED, reason: 'agent revoked' }
  return { path: REVOKE_PATH, subject: serial, fields: { serial, passive: true, ...reason } }
}
