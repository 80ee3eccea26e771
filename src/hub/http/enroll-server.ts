import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WireErrorCode } from '../../protocol/errors.ts'
import { printableExtract } from '../../platform/printable.ts'
import { ROUTES } from '../../protocol/routes.ts'
import {
  EnrollRequestBody,
  RecoverRequestBody,
  TpmChallengeRequestBody,
  type EnrollReplyBody,
  type IssueReplyBody,
  type TpmChallengeReplyBody,
} from '../../protocol/schemas.ts'
import type { AgentRefusals } from '../service/agent-refusals.ts'
import type { EnrollAgent } from '../service/agent/enroll-agent.ts'
import type { RecoverIdentity } from '../service/agent/recover-identity.ts'
import type { ChallengeTpm } from '../service/agent/tpm-challenges.ts'
import { noteReason, sendRateLimited, sendRefusal } from './error-response.ts'
import { RequestRefusal } from './json/request-refusal.ts'
import type { CallerBuckets } from './connections/caller-buckets.ts'
import { forgiveTurns } from './connections/request-guard.ts'
import { createHttpPort, type HttpPort, type HttpPortOptions } from './http-port.ts'
import { noteRefusals } from './note-refusals.ts'
import { strangerTurns } from './connections/stranger-turns.ts'

const IDEMPOTENCY_KEY_CHARACTERS_MAX = 256
/** Of a name that a caller sent, in a line of the log. */
const NAME_CHARACTERS_MAX = 64

export interface EnrollServerOptions extends Pick<
  HttpPortOptions,
  'log' | 'limits' | 'isTrustedProxy' | 'onAnswer' | 'onRefusal' | 'leakedTokens' | 'catchUp'
> {
  /** Shared by the ports that enrol: an address may fail as often, whichever way it comes. */
  readonly failures: CallerBuckets
  readonly enrollAgent: EnrollAgent
  readonly challengeTpm: ChallengeTpm
  readonly recoverIdentity: RecoverIdentity
  readonly refusals?: Pick<AgentRefusals, 'note'> | undefined
  readonly isKnownToken: (token: string) => Promise<boolean>
  /** Who signs the roots, where somebody does. docs/protocol.md TRK-6. */
  readonly enrolmentTrust: () => Promise<Pick<EnrollReplyBody, 'trust_key' | 'signed'>>
}

/** Where the routes are served. */
type EnrollDoor = Pick<HttpPortOptions, 'port' | 'https'>

const PLAIN: EnrollDoor = { port: 'enroll' }
const ENROLL_ROUTES = Object.values(ROUTES).filter(({ port }) => port === 'enroll')

export function createEnrollServer(
  options: EnrollServerOptions,
  door: EnrollDoor = PLAIN,
): HttpPort {
  const { limits, failures, isKnownToken } = options
  /** Only guesses count: the hub never tells a caller to wait that has a token which it knows. */
  const countGuess = async (request: FastifyRequest): Promise<number> => {
    const token = tokenOf(request.body)
    const isGuess = token === undefined || !(await isKnownToken(token))
    return isGuess ? failures.take(request.ip) : 0
  }
  const refuseLongCsr = (pem: string): void => {
    if (pem.length <= limits.csrBytes) return
    throw new RequestRefusal('request_invalid', 'csr_pem is too long')
  }
  const port = createHttpPort({
    ...options,
    ...door,
    routes: ENROLL_ROUTES,
    turns: strangerTurns,
    limitRefusal: async (request, refusal) => (COUNTED.has(refusal) ? countGuess(request) : 0),
  })
  const noteAsker = noteRefusals(port, options.refusals)
  port.app.post<{ Body: EnrollRequestBody }>(
    ROUTES.enroll.path,
    { schema: { body: EnrollRequestBody } },
    async (request, reply) => {
      refuseLongCsr(request.body.csr_pem)
      const outcome = await options.enrollAgent(request.body, idempotencyKeyOf(request))
      if (!outcome.ok) {
        noteMismatch(reply, outcome.refusal, request.body)
        const { refusal, waitMs: ofRule = 0 } = outcome
        const waitMs = refusal === 'token_not_found' ? failures.take(request.ip) : ofRule
        return waitMs > 0 ? sendRateLimited(reply, waitMs) : sendRefusal(reply, refusal)
      }
      // A caller can repeat one that succeeded as often as it likes.
      if (outcome.isRepetition !== true) forgiveTurns(request.raw)
      return {
        agent_id: outcome.agentId,
        cert_pem: outcome.certificatePem,
        ca_pem: outcome.rootPem,
        ...(await options.enrolmentTrust()),
      } satisfies EnrollReplyBody
    },
  )
  port.app.post<{ Body: TpmChallengeRequestBody }>(
    ROUTES.tpmChallenge.path,
    { schema: { body: TpmChallengeRequestBody } },
    async (request, reply) => {
      const outcome = await options.challengeTpm(request.body)
      if (outcome.ok) return outcome.challenge satisfies TpmChallengeReplyBody
      const waitMs = failures.take(request.ip)
      return waitMs > 0 ? sendRateLimited(reply, waitMs) : sendRefusal(reply, outcome.refusal)
    },
  )
  port.app.post<{ Body: RecoverRequestBody }>(
    ROUTES.recover.path,
    { schema: { body: RecoverRequestBody } },
    async (request, reply) => {
      refuseLongCsr(request.body.csr_pem)
      const outcome = await options.recoverIdentity(request.body)
      if (!outcome.ok) {
        if (outcome.reason !== undefined) noteReason(reply, outcome.reason)
        if (outcome.agentId !== undefined) noteAsker(request, outcome.agentId)
        const isFailure = outcome.refusal === 'recovery_refused'
        const waitMs = isFailure ? failures.take(request.ip) : 0
        return waitMs > 0 ? sendRateLimited(reply, waitMs) : sendRefusal(reply, outcome.refusal)
      }
      forgiveTurns(request.raw)
      return { cert_pem: outcome.certificatePem, ca_pem: outcome.rootPem } satisfies IssueReplyBody
    },
  )
  return port
}

/** The caller has the token, so it is mostly a host whose own idea of its name differs: the log says which one it sent. */
function noteMismatch(
  reply: FastifyReply,
  refusal: WireErrorCode,
  { hostname, role }: EnrollRequestBody,
): void {
  if (refusal === 'hostname_mismatch') {
    noteReason(reply, `the host asked as ${quote(hostname)}, and the token is for another hostname`)
  } else if (refusal === 'role_mismatch') {
    noteReason(reply, `the host asked for role ${quote(role)}, and the token is for another role`)
  }
}

/** What is no name of a host or role takes no more room in the line than a name would. */
function quote(name: string): string {
  return `"${printableExtract(name, NAME_CHARACTERS_MAX)}"`
}

/** A key that is too long counts as no key. */
function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  return typeof key === 'string' && key !== '' && key.length <= IDEMPOTENCY_KEY_CHARACTERS_MAX
    ? key
    : undefined
}

const COUNTED: ReadonlySet<WireErrorCode> = new Set(['json_invalid', 'request_invalid'])

function tokenOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('token' in body)) return undefined
  return typeof body.token === 'string' ? body.token : undefined
}
