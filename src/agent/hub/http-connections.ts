// HTTP/1.1 to one server by Node's own client, on connections that are kept. The larger library is loaded where a proxy has
// to be asked only: it holds 20 MB of an agent that waits.

import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestOverHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestOverHttps } from 'node:https'
import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { AvoidedAddresses } from './avoided-addresses.ts'

export interface HttpConnections {
  /** Throws what kept it from an answer. */
  send(request: HttpRequest): Promise<HttpReply>
  /** Resolves when what is under way has ended. */
  close(): Promise<void>
  /** Ends what is under way, too. */
  destroy(): Promise<void>
}

/** Connections to a name that may have several addresses. */
export interface ChoosyConnections extends HttpConnections {
  /** Goes elsewhere from the next connection on, where the name has another address. Ends what is under way. */
  leave(address: string | undefined): void
}

export interface HttpRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Ends it, also while its body comes; its reason is what is thrown. */
  readonly signal: AbortSignal
  /** Without any byte, before the headers and after them; else `signal` alone bounds it. */
  readonly silenceMs?: { readonly headers: number; readonly body: number } | undefined
}

export interface HttpReply {
  readonly statusCode: number
  readonly headers: HttpHeaders
  /** Of who answered. */
  readonly address?: string | undefined
  /** Throws what cut it short. Who does not read it to its end destroys the connections. */
  readonly body: AsyncIterable<Buffer>
}

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>

export const CONNECT_TIMEOUT_MS = 5000
/** A server that closes earlier says so. */
const PARKED_MS_MAX = 75_000
const AGENT_OPTIONS = { keepAlive: true, timeout: PARKED_MS_MAX }

/** `openTls` is asked before the first connection that needs TLS. */
export function createHttpConnections(
  openTls: () => SecureContext,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
  avoided: AvoidedAddresses = new AvoidedAddresses(),
): ChoosyConnections {
  return new ConnectionPool(openTls, connectTimeoutMs, avoided)
}

class SilenceError extends Error {
  override name = 'TimeoutError'
}

class ConnectionPool implements ChoosyConnections {
  readonly #openTls: () => SecureContext
  readonly #connectTimeoutMs: number
  readonly #avoided: AvoidedAddresses
  readonly #http = new HttpAgent(AGENT_OPTIONS)
  #https: HttpsAgent | undefined
  #underWay = 0
  /** Who waits for the end of what is under way. */
  readonly #closing: (() => void)[] = []

  constructor(openTls: () => SecureContext, connectTimeoutMs: number, avoided: AvoidedAddresses) {
    this.#openTls = openTls
    this.#connectTimeoutMs = connectTimeoutMs
    this.#avoided = avoided
  }

  async send(options: HttpRequest): Promise<HttpReply> {
    const { signal, silenceMs } = options
    signal.throwIfAborted()
    const request = this.#begin(options)
    let response: IncomingMessage | undefined
    let silenceMsMax: number | undefined
    const boundSilence = (timeoutMs: number | undefined): void => {
      silenceMsMax = timeoutMs
      // tidy: a server is silent in real time.
      if (timeoutMs !== undefined) request.setTimeout(timeoutMs)
    }
    const fail = (error: Error): void => void (response ?? request).destroy(error)
    const abort = (): void => fail(signal.reason as Error)
    this.#underWay += 1
    signal.addEventListener('abort', abort)
    boundSilence(silenceMs?.headers)
    return new Promise((resolve, reject) => {
      request
        .on('socket', (socket) => limitConnecting(socket, this.#connectTimeoutMs, fail))
        .on('timeout', () => {
          // Without a bound of its own it is told of the one for parked connections.
          if (silenceMsMax === undefined) return
          fail(new SilenceError(`timeout: nothing came for ${silenceMsMax} ms`))
        })
        .on('response', (message) => {
          response = message
          boundSilence(silenceMs?.body)
          const { statusCode = 0, headers } = message
          const { remoteAddress: address } = message.socket
          resolve({ statusCode, headers, address, body: message })
        })
        .on('error', reject)
        .on('close', () => {
          signal.removeEventListener('abort', abort)
          this.#underWay -= 1
          this.#endWhenIdle()
        })
        .end(options.body)
    })
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closing.push(resolve)
      this.#endWhenIdle()
    })
  }

  leave(address: string | undefined): void {
    if (address !== undefined) this.#avoided.avoid(address)
    void this.destroy()
  }

  destroy(): Promise<void> {
    this.#http.destroy()
    this.#https?.destroy()
    return Promise.resolve()
  }

  #begin({ url, method, headers }: HttpRequest): ClientRequest {
    if (url.protocol === 'http:') {
      return requestOverHttp(url, { agent: this.#http, method, headers })
    }
    this.#https ??= new HttpsAgent({
      ...AGENT_OPTIONS,
      lookup: this.#avoided.lookup,
      // One for all its connections.
      secureContext: this.#openTls(),
    })
    return requestOverHttps(url, { agent: this.#https, method, headers })
  }

  #endWhenIdle(): void {
    if (this.#closing.length === 0 || this.#underWay > 0) return
    void this.destroy()
    for (const resolve of this.#closing) resolve()
  }
}

/** With the handshake of TLS. A connection that was kept is there already. */
function limitConnecting(
  socket: Socket & { readonly secureConnecting?: boolean },
  timeoutMs: number,
  fail: (error: Error) => void,
): void {
  if (!socket.connecting && socket.secureConnecting !== true) return
  // tidy: as above.
  const timer = setTimeout(
    () => fail(new SilenceError(`timeout: no connection after ${timeoutMs} ms`)),
    timeoutMs,
  )
  const clear = (): void => clearTimeout(timer)
  socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', clear).once('close', clear)
}
