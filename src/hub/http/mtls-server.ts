// Port 8443: strict mutual TLS. TLS has verified the chain before any of this runs; each request is then checked against
// what the hub knows of the certificate.

import { constants, hash } from 'node:crypto'
import type { Server as TlsServer, TlsOptions, TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import { invariant } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import { ROUTES } from '../../protocol/routes.ts'
import {
  EventRequestBody,
  IssueRequestBody,
  type EventReplyBody,
  type IssueReplyBody,
} from '../../protocol/schemas.ts'
import type { Agent } from '../domain/agent.ts'
import {
  presentCertificate,
  type AuthenticateAgent,
  type PresentedCertificate,
} from '../service/authenticate-agent.ts'
import type { IssueCertificate } from '../service/issue-certificate.ts'
import type { ListManifest } from '../service/list-manifest.ts'
import type { RecordEvent } from '../service/record-event.ts'
import type { ServerCertificate } from '../service/server-certificate.ts'
import { createAgentConnections } from './agent-connections.ts'
import { sendRefusal } from './error-response.ts'
import { createHttpPort, type HttpPort } from './http-port.ts'

export interface MtlsServerOptions {
  readonly log: Logger
  readonly certificate: ServerCertificate
  readonly authenticateAgent: AuthenticateAgent
  readonly issueCertificate: IssueCertificate
  readonly listManifest: ListManifest
  readonly recordEvent: RecordEvent
}

export interface MtlsServer extends HttpPort {
  /** New connections get the new certificate; open ones go on. */
  replaceCertificate(certificate: ServerCertificate): void
  cutConnections(agentId: AgentId): void
}

const HANDSHAKE_TIMEOUT_MS = 5000

export function createMtlsServer(options: MtlsServerOptions): MtlsServer {
  const { log } = options
  const connections = createAgentConnections()
  const agents = new WeakMap<FastifyRequest, Agent>()
  const authenticate = async (request: FastifyRequest): Promise<WireErrorCode | undefined> => {
    const outcome = await options.authenticateAgent(presentedBy(request.raw.socket as TLSSocket))
    if (!outcome.ok) return outcome.refusal
    agents.set(request, outcome.agent)
    connections.add(outcome.agent.id, request.raw.socket)
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
    authenticate,
    https: { ...tlsOptions(options.certificate), handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
  })
  const server = port.app.server as unknown as TlsServer
  server.on('tlsClientError', (error, socket) => {
    log.debug({ reason: error.message }, 'Handshake failed')
    // Nothing can be answered on it, so it would stay open as long as the client likes.
    socket.destroy()
  })

  port.app.post<{ Body: IssueRequestBody }>(
    ROUTES.issue.path,
    { schema: { body: IssueRequestBody } },
    async (request, reply) => {
      const outcome = await options.issueCertificate(agentOf(request), request.body)
      if (!outcome.ok) return sendRefusal(reply, outcome.refusal)
      return { cert_pem: outcome.certificatePem, ca_pem: outcome.rootPem } satisfies IssueReplyBody
    },
  )
  port.app.get(ROUTES.manifest.path, async (request, reply) => {
    const body = JSON.stringify(await options.listManifest(agentOf(request)))
    const etag = `"${hash('sha256', body, 'base64url')}"`
    reply.header('etag', etag)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json').send(body)
  })
  port.app.post<{ Body: EventRequestBody }>(
    ROUTES.events.path,
    { schema: { body: EventRequestBody } },
    async (request, reply) => {
      const outcome = await options.recordEvent(agentOf(request), request.body)
      if (!outcome.ok) return sendRefusal(reply, outcome.refusal)
      return { evento_id: outcome.entryId, hash_atual: outcome.hash } satisfies EventReplyBody
    },
  )
  return {
    ...port,
    replaceCertificate: (certificate) => server.setSecureContext(tlsOptions(certificate)),
    cutConnections: (agentId) => connections.cut(agentId),
  }
}

function tlsOptions(certificate: ServerCertificate): TlsOptions {
  return {
    key: certificate.keyPem,
    cert: certificate.chainPem,
    // The intermediates too, for clients that send only their leaf.
    ca: [certificate.rootPem, ...certificate.intermediatePems],
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    // A resumed session would bring back a certificate that expired, or was replaced, since.
    secureOptions: constants.SSL_OP_NO_TICKET,
  }
}

/** Parsing a certificate costs more than answering a request, so it is done once a connection. */
const presentedCertificates = new WeakMap<TLSSocket, PresentedCertificate>()

function presentedBy(socket: TLSSocket): PresentedCertificate {
  const known = presentedCertificates.get(socket)
  if (known !== undefined) return known
  const x509 = socket.getPeerX509Certificate()
  invariant(x509, 'the handshake demands a client certificate')
  const presented = presentCertificate(x509)
  presentedCertificates.set(socket, presented)
  return presented
}
