// Port 8443: strict mutual TLS. TLS has verified the chain before any of this runs; each request is then checked against
// what the hub knows of the certificate.

import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import type { TlsOptions, TLSSocket } from 'node:tls'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invariant } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { createTokenBuckets, type TokenBuckets } from '../../platform/token-bucket.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import { parseRecipient, type AgentId } from '../../protocol/identifiers.ts'
import { LIMITS } from '../../protocol/limits.ts'
import {
  BUNDLE_EPOCH_HEADER,
  BUNDLE_NUMBER_HEADER,
  IDENTITY_RECEIPT_HEADER,
  LOG_CHECKPOINT_HEADER,
  ROUTES,
} from '../../protocol/routes.ts'
import {
  EventRequestBody,
  IssueRequestBody,
  RecipientRequestBody,
  type EventReplyBody,
  type IssueReplyBody,
  type BundleReplyBody,
  type ManifestReplyBody,
  type ReceiptReplyBody,
  type RecipientReplyBody,
} from '../../protocol/schemas.ts'
import type { Agent } from '../domain/agent.ts'
import {
  presentCertificate,
  type AuthenticateAgent,
  type AuthenticationOutcome,
  type PresentedCertificate,
} from '../service/agent/authenticate-agent.ts'
import type { AgentRefusals } from '../service/agent-refusals.ts'
import type { AgentSightings } from '../service/agent/agent-sightings.ts'
import type { FindBlob } from '../service/agent/find-blob.ts'
import type { IdentityReceipts } from '../service/agent/identity-receipts.ts'
import type { IssueCertificate } from '../service/agent/issue-certificate.ts'
import type { ListManifest } from '../service/agent/list-manifest.ts'
import { manifestTag } from '../service/agent/read-agent-news.ts'
import type { RecordEvent } from '../service/agent/record-event.ts'
import type { RecordRecipient } from '../service/agent/record-recipient.ts'
import type { ShownLog } from '../service/agent/show-log.ts'
import type { ServerCertificate } from '../service/upkeep/server-certificate.ts'
import { createAgentConnections } from './connections/agent-connections.ts'
import type { AgentStreams } from './agent-streams.ts'
import { createConnectionSweep } from './connections/connection-sweep.ts'
import { noteReason, sendRateLimited, sendRefusal } from './error-response.ts'
import { RequestRefusal } from './json/request-refusal.ts'
import { createHttpPort, type HttpPort, type HttpPortOptions } from './http-port.ts'
import { handshakeTimeoutMs, hubTlsOptions, tlsServerOf } from './hub-tls.ts'
import { noteRefusals } from './note-refusals.ts'
import { createReceiptDesk } from './receipt-desk.ts'
import { sendBlob } from './send-blob.ts'
import { answerWithoutStream, openStreamResponse } from './stream-response.ts'

export interface MtlsServerOptions extends Pick<
  HttpPortOptions,
  'log' | 'limits' | 'isTrustedProxy' | 'onAnswer' | 'onRefusal' | 'leakedTokens' | 'catchUp'
> {
  readonly clock: Clock
  /** Shared with recovery: an agent has one rate, whichever way it asks. */
  readonly issueRates: Pick<TokenBuckets, 'take'>
  readonly certificate: ServerCertificate
  readonly authenticateAgent: AuthenticateAgent
  readonly issueCertificate: IssueCertificate
  readonly listManifest: ListManifest
  readonly recordEvent: RecordEvent
  readonly recordRecipient: RecordRecipient
  readonly findBlob: FindBlob
  readonly streams: AgentStreams
  readonly sightings?: Pick<AgentSightings, 'note'> | undefined
  readonly refusals?: Pick<AgentRefusals, 'note'> | undefined
  readonly onHandshakeFailure?: (() => void) | undefined
  /** The roots that the agent is offered. */
  readonly offerRoots: (agent: Agent) => Promise<BundleReplyBody>
  readonly auditLog: ShownLog
  readonly receipts: IdentityReceipts
}

export interface MtlsServer extends HttpPort {
  /** New connections get the new certificate; open ones go on. */
  replaceCertificate(certificate: ServerCertificate): void
  /** The same for what client certificates must lead to. */
  replaceRoots(rootPem: string): void
  cutConnections(agentId: AgentId): void
  /** Cuts the connections by client certificates, given by their SHA-256, that are not wanted. */
  cutConnectionsUnless(isWanted: (sha256: string) => Promise<boolean>): Promise<void>
}

/** An agent that comes back after an outage has much to tell and to renew at once. */
const EVENT_BURST_SECONDS = 10
/** It follows the log over several epochs. */
const PROOF_BURST_MINUTES = 5

export function createMtlsServer(options: MtlsServerOptions): MtlsServer {
  const { log, limits, clock } = options
  let { certificate } = options
  const connections = createAgentConnections()
  const agents = new WeakMap<FastifyRequest, Agent>()
  const receiptDesk = createReceiptDesk(options.receipts, clock)
  const authenticateSocket = async (socket: TLSSocket): Promise<AuthenticationOutcome> => {
    const presented = presentedBy(socket)
    let outcome = await options.authenticateAgent(presented)
    // A revocation that came before the connection was known to be the agent's did not cut it, so it is asked again.
    if (outcome.ok && connections.add(outcome.agent.id, socket)) {
      outcome = await options.authenticateAgent(presented)
    }
    return outcome
  }
  const authenticate = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<WireErrorCode | undefined> => {
    const socket = request.raw.socket as TLSSocket
    // Cut since its request came (SRF-24): nobody waits for an answer, and Node no longer knows whose certificate it was.
    if (socket.destroyed) return 'request_invalid'
    let outcome = await authenticateSocket(socket)
    const receipt = request.headers[IDENTITY_RECEIPT_HEADER]
    if (!outcome.ok && outcome.refusal === 'agent_not_registered' && typeof receipt === 'string') {
      const fault = await receiptDesk.findFault(socket, presentedBy(socket), receipt)
      if (fault === undefined) outcome = await authenticateSocket(socket)
      else noteReason(reply, fault)
    }
    // With a refusal too: one by a hub that was replaced means nothing, and the agent has to be able to tell.
    const checkpoint = options.auditLog.header()
    if (checkpoint !== undefined) reply.header(LOG_CHECKPOINT_HEADER, checkpoint)
    const agentId = outcome.ok ? outcome.agent.id : outcome.agentId
    if (agentId !== undefined) noteAsker(request, agentId)
    if (!outcome.ok) return outcome.refusal
    agents.set(request, outcome.agent)
    const { 'user-agent': userAgent } = request.headers
    options.sightings?.note(outcome.agent, { userAgent, address: addressOf(request) })
    return undefined
  }
  const agentOf = (request: FastifyRequest): Agent => {
    const agent = agents.get(request)
    invariant(agent, 'every request on this port was authenticated')
    return agent
  }

  const port = createHttpPort({
    port: 'mtls',
    log,
    limits,
    isTrustedProxy: options.isTrustedProxy,
    onAnswer: options.onAnswer,
    onRefusal: options.onRefusal,
    leakedTokens: options.leakedTokens,
    catchUp: options.catchUp,
    authenticate,
    https: {
      ...tlsOptions(options.certificate),
      handshakeTimeout: handshakeTimeoutMs(limits),
    },
  })
  const noteAsker = noteRefusals(port, options.refusals)
  const server = tlsServerOf(port, { ...options, hasClientChains: true })
  const sweep = createConnectionSweep(server)

  const events = createTokenBuckets({
    perSecond: limits.eventsPerSecond,
    burst: limits.eventsPerSecond * EVENT_BURST_SECONDS,
    now: () => clock.now(),
  })

  const proofs = createTokenBuckets({
    perSecond: limits.proofsPerMinute / 60,
    burst: limits.proofsPerMinute * PROOF_BURST_MINUTES,
    now: () => clock.now(),
  })

  // Before the body is read, which costs more than all that is done for an agent over its rate. docs/protocol.md SRF-9.
  const limitBy =
    (rates: Pick<TokenBuckets, 'take'>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
      const waitMs = rates.take(agentOf(request).id)
      return waitMs > 0 ? sendRateLimited(reply, waitMs) : undefined
    }

  port.app.post<{ Body: IssueRequestBody }>(
    ROUTES.issue.path,
    { onRequest: limitBy(options.issueRates), schema: { body: IssueRequestBody } },
    async (request, reply) => {
      const agent = agentOf(request)
      if (request.body.csr_pem.length > limits.csrBytes) {
        throw new RequestRefusal('request_invalid', 'csr_pem is too long')
      }
      const outcome = await options.issueCertificate(
        agent,
        request.body,
        presentedBy(request.raw.socket as TLSSocket).sha256,
      )
      if (!outcome.ok) {
        if (outcome.reason !== undefined) noteReason(reply, outcome.reason)
        return sendRefusal(reply, outcome.refusal)
      }
      return { cert_pem: outcome.certificatePem, ca_pem: outcome.rootPem } satisfies IssueReplyBody
    },
  )
  port.app.get(ROUTES.manifest.path, async (request, reply) => {
    const { body, etag } = renderManifest(await options.listManifest(agentOf(request)))
    reply.header('etag', etag)
    const { numero, epoca, roots } = await options.offerRoots(agentOf(request))
    // The hub tells no agent of more roots than an agent accepts: each would ask for them with every manifest, in vain.
    if (roots.length <= LIMITS.rootsMax) {
      reply.header(BUNDLE_NUMBER_HEADER, numero)
      if (epoca !== undefined) reply.header(BUNDLE_EPOCH_HEADER, epoca)
    }
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json').send(body)
  })
  port.app.get(ROUTES.bundle.path, async (request, reply) => {
    const body = JSON.stringify(await options.offerRoots(agentOf(request)))
    const etag = `"${hash('sha256', body, 'base64url')}"`
    reply.header('etag', etag)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json').send(body)
  })
  port.app.get(ROUTES.log.path, async (_request, reply) => {
    const described = await options.auditLog.describe()
    return described ?? sendRefusal(reply, 'unavailable')
  })
  port.app.get<{ Querystring: { from?: string; to?: string } }>(
    ROUTES.consistency.path,
    // As dear as a dozen events, and asked for once or twice an hour.
    { onRequest: limitBy(proofs) },
    async ({ query }) => {
      const [from, to] = [parseSize(query.from), parseSize(query.to)]
      const reply = from !== undefined && to !== undefined && options.auditLog.prove(from, to)
      const proven = reply === false ? undefined : await reply
      if (proven === undefined) {
        throw new RequestRefusal('request_invalid', 'from and to are no sizes that the log had')
      }
      return proven
    },
  )
  port.app.get(
    ROUTES.receipt.path,
    // A signature, asked for once for each identity.
    { onRequest: limitBy(events) },
    (request, reply) => {
      const { sha256 } = presentedBy(request.raw.socket as TLSSocket)
      const receipt = options.receipts.sign(agentOf(request), sha256)
      if (receipt === undefined) return sendRefusal(reply, 'unavailable')
      return { receipt } satisfies ReceiptReplyBody
    },
  )
  port.app.post<{ Body: EventRequestBody }>(
    ROUTES.events.path,
    { onRequest: limitBy(events), schema: { body: EventRequestBody } },
    async (request, reply) => {
      const outcome = await options.recordEvent(agentOf(request), request.body)
      if (!outcome.ok) return refuseEvent(reply, outcome)
      return { evento_id: outcome.entryId, hash_atual: outcome.hash } satisfies EventReplyBody
    },
  )
  port.app.put<{ Body: RecipientRequestBody }>(
    ROUTES.recipient.path,
    { onRequest: limitBy(events), schema: { body: RecipientRequestBody } },
    async (request, reply) => {
      const agent = agentOf(request)
      const recipient = parseRecipient(request.body.recipient)
      invariant(recipient, 'the schema asks for the form of a recipient')
      const outcome = await options.recordRecipient(
        agent,
        recipient,
        presentedBy(request.raw.socket as TLSSocket).sha256,
      )
      if (!outcome.ok) return refuseEvent(reply, outcome)
      return { recipient: outcome.recipient } satisfies RecipientReplyBody
    },
  )
  port.app.route<{ Params: { id: string } }>({
    // The route handles HEAD itself: Fastify gives an answer to HEAD the length of a body that it did not send.
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    url: ROUTES.blob.path,
    handler: async (request, reply) =>
      sendBlob(request, reply, await options.findBlob(agentOf(request), request.params.id)),
  })
  port.app.get(ROUTES.stream.path, (request, reply) => {
    if (request.method === 'HEAD') return answerWithoutStream(reply)
    const agent = agentOf(request)
    const socket = request.raw.socket as TLSSocket
    const lastEventId = request.headers['last-event-id']
    options.streams.hold({
      agentId: agent.id,
      agent,
      address: addressOf(request),
      connection: openStreamResponse(request, reply),
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      authenticate: async () => {
        const outcome = await authenticateSocket(socket)
        return outcome.ok ? outcome.agent : undefined
      },
    })
    return reply
  })
  return {
    ...port,
    close: async (graceMs) => {
      const closing = port.close(graceMs)
      // They are not work under way: nothing is lost with them.
      options.streams.close()
      await closing
    },
    replaceCertificate: (renewed) => {
      certificate = renewed
      server.setSecureContext(tlsOptions(certificate))
    },
    replaceRoots: (rootPem) => {
      certificate = { ...certificate, rootPem }
      server.setSecureContext(tlsOptions(certificate))
    },
    cutConnectionsUnless: (isWanted) => sweep((socket) => isWanted(presentedBy(socket).sha256)),
    cutConnections: (agentId) => connections.cut(agentId),
  }
}

function parseSize(text: unknown): number | undefined {
  return typeof text === 'string' && /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined
}

/** As people write it: a port for IPv6 and IPv4 shows IPv4 as a part of IPv6. */
function addressOf({ ip }: FastifyRequest): string | undefined {
  const plain = ip?.startsWith('::ffff:') ? ip.slice('::ffff:'.length) : ip
  return isIP(plain ?? '') === 0 ? undefined : plain
}

interface RenderedManifest {
  readonly body: string
  readonly etag: string
}

const renderedManifests = new WeakMap<ManifestReplyBody, RenderedManifest>()

/** Once for each object: an agent that polls gets the same one until there is something new. */
function renderManifest(manifest: ManifestReplyBody): RenderedManifest {
  const known = renderedManifests.get(manifest)
  if (known !== undefined) return known
  const body = JSON.stringify(manifest)
  const rendered = { body, etag: `"${manifestTag(body)}"` }
  renderedManifests.set(manifest, rendered)
  return rendered
}

/** One over its budget of bytes says when there is room again. */
function refuseEvent(
  reply: FastifyReply,
  { refusal, waitMs }: { readonly refusal: WireErrorCode; readonly waitMs?: number },
): FastifyReply {
  return waitMs === undefined ? sendRefusal(reply, refusal) : sendRateLimited(reply, waitMs)
}

function tlsOptions(certificate: ServerCertificate): TlsOptions {
  return {
    ...hubTlsOptions(certificate),
    // The intermediates too, for clients that send only their leaf.
    ca: [certificate.rootPem, ...certificate.intermediatePems],
    requestCert: true,
    rejectUnauthorized: true,
  }
}

/**
 * Parsing a certificate costs more than answering a request, so it is done once a connection. As a plain object: an
 * X509Certificate would keep OpenSSL's until a major collection, which frees all of them while the hub stands still.
 */
const presentedCertificates = new WeakMap<TLSSocket, PresentedCertificate>()

function presentedBy(socket: TLSSocket): PresentedCertificate {
  const known = presentedCertificates.get(socket)
  if (known !== undefined) return known
  const peer = socket.getPeerCertificate()
  invariant('subject' in peer, 'the handshake demands a client certificate')
  const presented = presentCertificate(peer)
  presentedCertificates.set(socket, presented)
  return presented
}
