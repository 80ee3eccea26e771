// Bytes out, HTTP answers in. A connection is kept as long as both sides are known to agree where requests end.

import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Target } from '../support/wire-client.ts'

export interface Answer {
  readonly status: number
  /** Names in lower case; of a name that came twice, both values. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Exchange {
  readonly answers: readonly Answer[]
  /** What came and was no HTTP answer. */
  readonly rest: Buffer
  readonly isOpen: boolean
  /** The peer neither answered nor closed, also after our side was closed. */
  readonly isHanging: boolean
}

const CONNECT_TIMEOUT_MS = 10_000
const HANGING_MS = 20_000

export interface Connection {
  readonly socket: Socket
  /** The same, or what is below its TLS. */
  readonly tcp: Socket
}

/** Undefined when there is no connection to be had: a refused handshake is an answer, too. */
export async function open(target: Target): Promise<Connection | undefined> {
  const tcp = connectTcp({ host: '127.0.0.1', port: target.port, allowHalfOpen: true })
  const isOpen = await waitFor(tcp, 'connect')
  if (!isOpen || target.tls === undefined) return isOpen ? { socket: tcp, tcp } : undefined
  const socket = connectTls({ ...target.tls, socket: tcp })
  return (await waitFor(socket, 'secureConnect')) ? { socket, tcp } : undefined
}

async function waitFor(socket: Socket, event: string): Promise<boolean> {
  // Who cuts a connection, and when, is the hub's to choose; what follows sees it close.
  socket.on('error', () => socket.destroy())
  try {
    await once(socket, event, { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })
    return true
  } catch {
    socket.destroy()
    return false
  }
}

export interface ExchangeOptions {
  readonly isHead: boolean
  /** When our side is closed: never, or so long after the bytes were written. */
  readonly endAfterMs: number | undefined
  /** Whether to read on after the first answer, until the hub closes. */
  readonly untilClosed: boolean
  /** Where the bytes are written, when not to the connection itself: below its TLS. */
  readonly writeTo?: Socket
}

/** Writes the bytes and reads answers; the connection is of no more use unless it says that it is open. */
export function exchange(
  socket: Socket,
  bytes: Buffer,
  { isHead, endAfterMs, untilClosed, writeTo = socket }: ExchangeOptions,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let isHanging = false
    const settle = (isOpen: boolean): void => {
      clearTimeout(ender)
      clearTimeout(killer)
      socket.off('data', onData)
      socket.off('close', onClose)
      socket.off('end', onEnd)
      if (!isOpen) {
        socket.destroy()
        writeTo.destroy()
      }
      resolve({ ...readAnswers(Buffer.concat(chunks), isHead), isOpen, isHanging })
    }
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      if (untilClosed) return
      const { answers, rest } = readAnswers(Buffer.concat(chunks), isHead)
      const answer = answers.find(({ status }) => status >= 200)
      if (answer !== undefined) settle(rest.length === 0 && isKept(answer))
    }
    const onClose = (): void => settle(false)
    const onEnd = (): void => settle(false)
    socket.on('data', onData)
    socket.once('close', onClose)
    socket.once('end', onEnd)
    const ender = endAfterMs === undefined ? undefined : setTimeout(() => socket.end(), endAfterMs)
    const killer = setTimeout(() => {
      isHanging = true
      settle(false)
    }, HANGING_MS)
    if (socket.destroyed) settle(false)
    else writeTo.write(bytes)
  })
}

function isKept({ headers }: Answer): boolean {
  return headers['connection']?.toLowerCase() !== 'close'
}

/** Answers with a Content-Length, which all of the hub's have, one after the other. */
function readAnswers(bytes: Buffer, isHead: boolean): { answers: Answer[]; rest: Buffer } {
  const answers: Answer[] = []
  let rest = bytes
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return { answers, rest }
    const [line = '', ...fields] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    if (Number.isNaN(status)) return { answers, rest }
    const headers = readHeaders(fields)
    const hasBody = !isHead && status !== 304 && status >= 200
    const length = hasBody ? Number(headers['content-length'] ?? 0) : 0
    if (rest.length < end + 4 + length) return { answers, rest }
    const body = rest.subarray(end + 4, end + 4 + length).toString('utf8')
    answers.push({ status, headers, body })
    rest = rest.subarray(end + 4 + length)
  }
}

function readHeaders(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(':')).toLowerCase()
    const value = field.slice(field.indexOf(':') + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
