// HTTPS to the CA on connections that are kept: bounded replies, no redirects, trust in the given roots only.

import { Agent, type Dispatcher } from 'undici'
import { errnoCode, describeError } from '../../platform/errors.ts'
import { CaError } from './certificate-authority.ts'

export interface CaReply {
  readonly status: number
  readonly body: string
}

export interface CaRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly path: string
  readonly body?: string
  readonly signal: AbortSignal
}

export interface CaConnection {
  /**
   * Throws ConnectionFailure, CaError for an endless reply, or the signal's reason; that late when it waits for a
   * connection, which undici lets go of only once it is there, or has failed.
   */
  send(request: CaRequest): Promise<CaReply>
  /** From the next request on these are trusted and no others; what is under way goes on. */
  useRoots(rootPem: string): void
  close(): Promise<void>
}

export interface CaConnectionOptions {
  readonly origin: string
  readonly rootPem: string
  readonly connectionsMax: number
}

/** No complete answer came; whether the CA saw the request is unknown. */
export class ConnectionFailure extends Error {
  override name = 'ConnectionFailure'
}

const REPLY_BYTES_MAX = 256 * 1024

export function createCaConnection(options: CaConnectionOptions): CaConnection {
  let agent = createAgent(options)
  return {
    useRoots(rootPem) {
      const old = agent
      agent = createAgent({ ...options, rootPem })
      // It waits for what is under way, and nothing waits for it.
      void old.close().catch(() => undefined)
    },
    send: async (request) => {
      try {
        return await sendOnce(agent, options.origin, request)
      } catch (error) {
        request.signal.throwIfAborted()
        if (errnoCode(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
          throw new CaError('wrong_certificate', 'the reply of the CA is too long')
        }
        throw new ConnectionFailure(explain(error), { cause: error })
      }
    },
    // Not close(), which would wait for a CA that does not answer.
    close: () => agent.destroy(),
  }
}

function createAgent({ rootPem, connectionsMax }: CaConnectionOptions): Agent {
  return new Agent({
    connect: { ca: rootPem },
    connections: connectionsMax,
    maxResponseSize: REPLY_BYTES_MAX,
    allowH2: false,
    // The caller's signal is the only clock: one deadline for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

async function sendOnce(agent: Agent, origin: string, request: CaRequest): Promise<CaReply> {
  const options: Dispatcher.RequestOptions = {
    origin,
    path: request.path,
    method: request.method,
    signal: request.signal,
    ...(request.body === undefined
      ? {}
      : { body: request.body, headers: { 'content-type': 'application/json' } }),
  }
  const reply = await agent.request(options)
  return { status: reply.statusCode, body: await reply.body.text() }
}

/** An error of several connection attempts has no message of its own, only a code. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return message === '' ? (errnoCode(error) ?? describeError(error)) : message
}
