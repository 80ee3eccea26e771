import { randomUUID } from 'node:crypto'
import { maxHeaderSize, STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describeError } from '../../platform/errors.ts'
import { WIRE_ERRORS, type WireErrorCode } from '../../protocol/errors.ts'
import { type AnswerLogOptions, boundReason } from './answer-log.ts'

/** What Node says of a request that it cannot parse. */
export interface BrokenRequest extends Error {
  readonly code?: string
  /** There only when the system refused to read or write: the connection failed, not the request. */
  readonly syscall?: string
  /** The bytes that it was parsing, of which the request line may be the first. */
  readonly rawPacket?: Buffer
}

/** How long the client may take to read its answer and close. */
const LINGER_MS = 1000

/** Connections whose answer is on its way. */
const answered = new WeakSet<Socket>()

/** What does not even parse as HTTP, or does not arrive in time, gets its answer by hand. */
export function answerBrokenRequest(
  { port, floodLog, onRefusal }: Pick<AnswerLogOptions, 'port' | 'floodLog' | 'onRefusal'>,
  error: BrokenRequest,
  socket: Socket,
  bodyOf: (refusal: WireErrorCode) => object,
): void {
  // Of a handshake that failed; the mutual TLS port sees to it.
  if ('secureConnecting' in socket && socket.secureConnecting === true) return
  // What still comes is refused again; closing now would take the answer from a client that has not read it yet.
  if (answered.has(socket)) return
  const response = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage
  const isGone = socket.destroyed || !socket.writable || error.syscall !== undefined
  if (isGone || response?.headersSent) {
    socket.destroy()
    return
  }
  const code: WireErrorCode =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'request_invalid'
  answered.add(socket)
  const { status } = WIRE_ERRORS[code]
  const requestId = randomUUID()
  const reason = boundReason(describeError(error))
  onRefusal?.(port, code)
  floodLog(
    { request_id: requestId, status, error: code, reason, remote: socket.remoteAddress },
    'Request refused',
  )
  const body = JSON.stringify(bodyOf(code))
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  closeSoon(socket)
}

/** The first line of the request, which has the URL if any line has. */
export function requestLineOf({ rawPacket }: BrokenRequest): string {
  return rawPacket?.subarray(0, maxHeaderSize).toString('latin1').split('\n', 1)[0] ?? ''
}

/** Our end of the stream is no end of the connection: a client that never closes its side would hold it for ever. */
function closeSoon(socket: Socket): void {
  // tidy: a connection lives in real time, whatever a Clock says.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}
