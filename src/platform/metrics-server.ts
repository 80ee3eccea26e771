// `/metrics`, `/livez` and `/readyz` over plain HTTP, for hub and agent alike. Any client that reaches it may read it: it binds to
// loopback unless told otherwise, takes no input but a path, and is bounded like every other port.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BindAddress } from './bind-address.ts'
import { cutPipelining } from './cut-pipelining.ts'
import { describeError } from './errors.ts'
import type { Logger } from './logger.ts'
import type { RenderedMetrics } from './metric-set.ts'
import { namesSeveralHosts } from './names-several-hosts.ts'

export interface Subsystem {
  readonly isReady: boolean
  /** For people; always there. */
  readonly reason: string
  /** When it ceased to be ready, as far as that is known. */
  readonly since?: Date | undefined
}
export type Readiness = Readonly<Record<string, Subsystem>>

export interface MetricsServerOptions {
  readonly log: Logger
  readonly render: () => Promise<RenderedMetrics>
  readonly checkReadiness: () => Promise<Readiness>
  readonly onRefusal?: ((status: 404 | 405) => void) | undefined
  /** Sees the URL of each request, and may have its answer wait. */
  readonly onUrl?: ((url: string, remote: string) => Promise<void> | undefined) | undefined
}

export interface MetricsServer {
  readonly address: BindAddress
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const CONNECTIONS_MAX = 64
const HEADERS_TIMEOUT_MS = 5000
const REQUEST_TIMEOUT_MS = 10_000
/** Longer than scrapers wait between two scrapes. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'

/** Rejects with the system's error when the address cannot be bound. */
export async function startMetricsServer(
  address: BindAddress,
  options: MetricsServerOptions,
): Promise<MetricsServer> {
  const routes = routesOf(options)
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    },
    cutPipelining((request, response) => {
      void answer(routes, options, request).then((found) => send(request, response, found))
    }),
  )
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  // What is listening on TCP has an address object.
  const bound = server.address() as AddressInfo
  return {
    address: { host: bound.address, port: bound.port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Route = (request: IncomingMessage) => Promise<Answer>

function routesOf(options: MetricsServerOptions): ReadonlyMap<string, Route> {
  const render = sharing(options.render)
  const checkReadiness = sharing(options.checkReadiness)
  return new Map<string, Route>([
    ['/livez', async () => ({ status: 200, contentType: JSON_TYPE, body: '{"status":"alive"}\n' })],
    ['/readyz', async (request) => describeReadiness(await checkReadiness(), request)],
    [
      '/metrics',
      async () => {
        const { contentType, text } = await render()
        return { status: 200, contentType, body: text }
      },
    ],
  ])
}

/** However many ask at once, the work is done once. */
function sharing<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

async function answer(
  routes: ReadonlyMap<string, Route>,
  { log, onUrl, onRefusal }: Pick<MetricsServerOptions, 'log' | 'onUrl' | 'onRefusal'>,
  request: IncomingMessage,
): Promise<Answer> {
  const { url = '' } = request
  await onUrl?.(url, request.socket.remoteAddress ?? '')
  if (namesSeveralHosts(request)) return plain(400, 'more than one Host')
  const [path = ''] = url.split('?', 1)
  const route = routes.get(path)
  if (route === undefined) {
    onRefusal?.(404)
    return plain(404, 'this port serves /metrics, /livez and /readyz')
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    onRefusal?.(405)
    return plain(405, 'GET only')
  }
  try {
    return await route(request)
  } catch (error) {
    log.error({ path, reason: describeError(error) }, 'Metrics failed')
    return plain(500, 'it failed; the log says why')
  }
}

/** JSON, or lines for browsers and other clients that prefer text. */
function describeReadiness(readiness: Readiness, request: IncomingMessage): Answer {
  const subsystems = Object.entries(readiness)
  const isReady = subsystems.every(([, subsystem]) => subsystem.isReady)
  const status = isReady ? 200 : 503
  const wordOf = (ready: boolean): string => (ready ? 'ready' : 'not_ready')
  if (request.headers.accept?.startsWith('text/') === true) {
    const lines = subsystems.map(
      ([name, subsystem]) => `${name}: ${wordOf(subsystem.isReady)}: ${subsystem.reason}\n`,
    )
    return { status, contentType: TEXT, body: `${wordOf(isReady)}\n${lines.join('')}` }
  }
  const document = {
    status: wordOf(isReady),
    subsystems: Object.fromEntries(
      subsystems.map(([name, subsystem]) => [
        name,
        {
          status: wordOf(subsystem.isReady),
          reason: subsystem.reason,
          ...(subsystem.since && { since: subsystem.since.toISOString() }),
        },
      ]),
    ),
  }
  return { status, contentType: JSON_TYPE, body: `${JSON.stringify(document, undefined, 2)}\n` }
}

function plain(status: number, text: string): Answer {
  return { status, contentType: TEXT, body: `${text}\n` }
}

function send(request: IncomingMessage, response: ServerResponse, found: Answer): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0
  // Load balancers check with it; a client that asks to keep such a connection does not get it.
  if (request.httpVersion === '1.0') response.shouldKeepAlive = false
  response.writeHead(found.status, {
    'content-type': found.contentType,
    'content-length': Buffer.byteLength(found.body),
    'cache-control': 'no-store',
    ...(found.status === 405 ? { allow: 'GET, HEAD' } : {}),
    // Nobody reads it, so nothing can follow on this connection.
    ...(hasBody ? { connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : found.body)
}
