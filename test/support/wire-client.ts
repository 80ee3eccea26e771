// Requests as any client could send them, byte for byte where it matters; nothing here knows the hub's own code.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'

/** A port of 127.0.0.1, with what a client of the mutual TLS port brings along. */
export interface Target {
  readonly port: number
  readonly tls?: TlsOptions
}

export interface TlsOptions extends Pick<
  ConnectionOptions,
  'cert' | 'key' | 'minVersion' | 'maxVersion' | 'session' | 'ALPNProtocols'
> {
  /** What the client trusts. */
  readonly ca: string
  readonly servername: string
}

export interface WireRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Keeps connections; without one each request has its own. */
  readonly agent?: Agent
}

export interface WireReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

const REPLY_TIMEOUT_MS = 20_000
const JSON_TYPE = { 'content-type': 'application/json' }

export async function send(target: Target, wire: WireRequest): Promise<WireReply> {
  const options = {
    host: '127.0.0.1',
    port: target.port,
    method: wire.method ?? 'GET',
    path: wire.path,
    headers: { ...wire.headers },
    agent: wire.agent ?? (false as const),
    signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
  }
  const request =
    target.tls === undefined
      ? httpRequest(options)
      : httpsRequest({ ...options, ...target.tls, agent: options.agent as never })
  request.end(wire.body)
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString('utf8')
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    text,
    json: parse(text),
  }
}

export function post(target: Target, path: string, value: unknown): Promise<WireReply> {
  return send(target, { method: 'POST', path, headers: JSON_TYPE, body: JSON.stringify(value) })
}

export function put(target: Target, path: string, value: unknown): Promise<WireReply> {
  return send(target, { method: 'PUT', path, headers: JSON_TYPE, body: JSON.stringify(value) })
}

/** A POST whose body is these very bytes. */
export function postBytes(target: Target, path: string, body: string | Buffer): Promise<WireReply> {
  return send(target, { method: 'POST', path, headers: JSON_TYPE, body })
}

/** The reply is this refusal, exactly as every refusal must look. */
export function assertRefused(reply: WireReply, status: number, code: string): void {
  assert.deepEqual([reply.status, reply.text], [status, `{"error":"${code}"}`])
  assert.match(reply.headers['content-type'] ?? '', /^application\/json(;|$)/)
  assert.ok(reply.headers['x-request-id'], 'X-Request-Id is missing')
}

export function assertOk(reply: WireReply): void {
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.headers['content-type'] ?? '', /^application\/json(;|$)/)
  assert.ok(reply.headers['x-request-id'], 'X-Request-Id is missing')
}

/** Opens a connection, in TLS where the target has it; rejects when the handshake fails. */
export async function connect(target: Target): Promise<Socket> {
  if (target.tls === undefined) {
    const socket = connectTcp(target.port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
  return connectSecurely(target)
}

export async function connectSecurely(target: Target): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: target.port, ...target.tls })
  await once(socket, 'secureConnect')
  return socket
}

/** Writes these bytes and answers all that comes back until the peer closes, or until it has sent enough. */
export async function exchange(
  socket: Socket,
  bytes: string | Buffer,
  isEnough: (received: string) => boolean = () => false,
): Promise<string> {
  const chunks: Buffer[] = []
  const received = (): string => Buffer.concat(chunks).toString('latin1')
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no end: ${received()}`)), REPLY_TIMEOUT_MS)
    const finish = (): void => {
      clearTimeout(timer)
      socket.off('data', onData)
      resolve(received())
    }
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      if (isEnough(received())) finish()
    }
    socket.on('data', onData)
    socket.once('error', finish)
    socket.once('close', finish)
    socket.write(bytes)
  })
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
