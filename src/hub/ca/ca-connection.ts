// HTTPS to the CA on connections that are kept: bounded replies, no redirects, trust in the given roots only.

import type { Dispatcher, Pool } from 'undici'
import { errnoCode, describeError } from '../../platform/errors.ts'
import { currentTrace, formatTraceparent } from '../../platform/trace.ts'
import { CaError } from './certificate-authority.ts'

export interface CaReply {
  readonly status: number
  readonly body: string
  /** What the CA says that it is o'clock; undefined when it does not say. */
  readonly date?: string | undefined
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>
}

export interface CaRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** Path and query. */
  readonly path: string
  readonly body?: string
  /** Besides the type of the body, which is JSON unless it is said here. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** The connection stands, and the request goes out: from now on the CA may have seen it. */
  readonly onSent?: (() => void) | undefined
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
  let { rootPem } = options
  let pool: Pool | undefined
  let isClosed = false
  const openPool = async (): Promise<Pool> => {
    // A hub whose certificate is on disk starts without it, in a tenth less CPU time.
    const { Pool: UndiciPool } = await import('undici')
    if (isClosed) throw new Error('the hub is stopping')
    return (pool ??= createPool(UndiciPool, { ...options, rootPem }))
  }
  return {
    useRoots(pem) {
      rootPem = pem
      // It waits for what is under way, and nothing waits for it.
      void pool?.close().catch(() => undefined)
      pool = undefined
    },
    send: async (request) => {
      try {
        return await sendOnce(pool ?? (await openPool()), request)
      } catch (error) {
        request.signal.throwIfAborted()
        if (errnoCode(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
          throw new CaError('wrong_certificate', 'the reply of the CA is too long')
        }
        throw new ConnectionFailure(explain(error), { cause: error })
      }
    },
    // Not close(), which would wait for a CA that does not answer.
    close: async () => {
      isClosed = true
      await pool?.destroy()
    },
  }
}

function createPool(
  UndiciPool: typeof Pool,
  { origin, rootPem, connectionsMax }: CaConnectionOptions,
): Pool {
  return new UndiciPool(origin, {
    connect: { ca: rootPem },
    connections: connectionsMax,
    maxResponseSize: REPLY_BYTES_MAX,
    allowH2: false,
    // The caller's signal is the only clock: one deadline for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** By undici's `dispatch`: a stream for each body, as its `request` makes one, costs as much again as all the rest. */
function sendOnce(pool: Pool, request: CaRequest): Promise<CaReply> {
  const { path, method, body, signal, onSent } = request
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let status = 0
    let headers: NonNullable<CaReply['headers']> = {}
    const chunks: Buffer[] = []
    // One that has no connection yet goes on until it has one.
    const abort = (): void => controller?.abort(signal.reason as Error)
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = { ...type, ...request.headers, ...traceHeaders() }
    pool.dispatch(
      { path, method, body: body ?? null, headers: sent },
      {
        onRequestStart: (begun) => {
          controller = begun
          if (signal.aborted) abort()
          else onSent?.()
        },
        onResponseStart: (_controller, statusCode, said) => {
          status = statusCode
          headers = said
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk)
        },
        onResponseEnd: () => {
          signal.removeEventListener('abort', abort)
          const date = typeof headers['date'] === 'string' ? headers['date'] : undefined
          resolve({ status, body: Buffer.concat(chunks).toString(), date, headers })
        },
        onResponseError: (_controller, error) => {
          signal.removeEventListener('abort', abort)
          reject(error)
        },
      },
    )
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** A step-ca has the request id in its log lines. */
function traceHeaders(): Readonly<Record<string, string>> {
  const trace = currentTrace()
  return trace === undefined
    ? {}
    : { traceparent: formatTraceparent(trace), 'x-request-id': trace.traceId }
}

/** An error of several connection attempts has no message of its own, only a code. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return message === '' ? (errnoCode(error) ?? describeError(error)) : message
}
