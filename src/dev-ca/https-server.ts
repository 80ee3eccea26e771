// HTTPS around the API: bounded bodies, bounded waits, replies in JSON.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describeError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { Api, ApiRequest } from './api.ts'
import type { ListenAddress } from './listen-address.ts'
import { refusalReply, refuse, type Reply } from './reply.ts'

export interface ServerCredentials {
  /** Leaf and intermediates, PEM. */
  readonly cert: string
  readonly key: string
}

export interface HttpsServer {
  readonly url: string
  replaceCredentials(credentials: ServerCredentials): void
  close(): Promise<void>
}

const BODY_BYTES_MAX = 64 * 1024
const DROPPED_BYTES_MAX = 1024 * 1024
const CONNECTIONS_MAX = 1024
const HANDSHAKE_TIMEOUT_MS = 5000
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000

export async function startHttpsServer(
  address: ListenAddress,
  credentials: ServerCredentials,
  api: Api,
  logger: Logger,
): Promise<HttpsServer> {
  const server = createServer({
    ...credentials,
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('request', (request, response) => void answer(request, response, api, logger))
  server.listen(address.port, address.host)
  await once(server, 'listening')
  return {
    url: urlOf(server),
    replaceCredentials: (next) => server.setSecureContext({ ...next, minVersion: 'TLSv1.2' }),
    close: () => closeServer(server),
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  api: Api,
  logger: Logger,
): Promise<void> {
  try {
    const reply = await replyTo(request, api)
    const fields = { method: request.method, path: pathOf(request), status: reply.status }
    logger.info(fields, 'request answered')
    send(response, reply)
  } catch (error) {
    logger.error({ reason: describeError(error) }, 'request failed')
    if (!response.headersSent) send(response, refusalReply(refuse(500, 'internal error')))
  }
}

async function replyTo(request: IncomingMessage, api: Api): Promise<Reply> {
  const url = `https://ca${request.url ?? '/'}`
  if (!URL.canParse(url)) return refusalReply(refuse(400, 'invalid path'))
  const body = await readBody(request)
  if (body === undefined) return refusalReply(refuse(413, 'request body too large'))
  const apiRequest: ApiRequest = { method: request.method ?? '', url: new URL(url), body }
  return api(apiRequest)
}

/** The body as text, or undefined when it is too large; what is over the limit is read and dropped. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Not destroyed on return: the reply has to go out on the same connection.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk)
    if (bytes > DROPPED_BYTES_MAX) break
  }
  return bytes <= BODY_BYTES_MAX ? Buffer.concat(chunks).toString('utf8') : undefined
}

function send(response: ServerResponse, { status, contentType, body }: Reply): void {
  // A body that was not read to its end cannot be followed by another request.
  if (status === 413) response.setHeader('Connection', 'close')
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** Without the query, which is nobody's business in a log. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?')[0] ?? ''
}

function urlOf(server: Server): string {
  // A server that listens on TCP has an address object.
  const { address, port, family } = server.address() as AddressInfo
  return `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await closed
}
