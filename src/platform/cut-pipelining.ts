import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What a connection has seen last: one object for all of its requests. */
interface Last {
  /** Undefined once it is done: an idle connection holds no answer, which would outlive each collection of the young generation. */
  response: ServerResponse | undefined
  /** What had come on the connection when the request was there. */
  bytesRead: number
  /** Undefined once it is done. */
  before: ServerResponse | undefined
}

/**
 * A listener that never sees a request that was sent before its client can have had the answer to the last one: the connection
 * is cut. docs/protocol.md SRF-24. So it is when that answer has not begun, when both came in one piece, or when the answer to
 * the one before has not gone out. The last one may have begun only: a client can have all of an answer in pieces before the
 * hub knows that the answer is complete.
 */
export function cutPipelining(
  listener: RequestListener,
  onCut?: (socket: Socket) => void,
): RequestListener {
  const lastOn = new WeakMap<Socket, Last>()
  // One for all responses.
  function forget(this: ServerResponse): void {
    const last = lastOn.get(this.req.socket)
    if (last?.response === this) last.response = undefined
    else if (last?.before === this) last.before = undefined
  }
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const last = lastOn.get(socket)
    const bytesRead = bytesReadOf(socket)
    if (last === undefined) lastOn.set(socket, { response, bytesRead, before: undefined })
    else if (isAhead(last, bytesRead)) {
      cut(socket)
      onCut?.(socket)
      return
    } else {
      last.before = last.response
      last.response = response
      last.bytesRead = bytesRead
    }
    response.on('close', forget)
    listener(request, response)
  }
}

function isAhead({ response, bytesRead, before }: Last, bytesReadNow: number): boolean {
  return (
    response?.headersSent === false ||
    bytesRead === bytesReadNow ||
    before?.writableFinished === false
  )
}

/** Of TLS, what came below it: one piece holds many records. */
function bytesReadOf(socket: Socket): number {
  const { _parent: below } = socket as Socket & { readonly _parent?: Socket | null }
  return (below ?? socket).bytesRead
}

/** All that is in the bytes that were read already would be parsed and emitted: 3,600 requests in the 64 KiB of one read. */
function cut(socket: Socket): void {
  // Undocumented, but the only way; without it a cut costs a hundred times as much, and still works.
  const { parser } = socket as Socket & { readonly parser?: { onIncoming?: () => number } | null }
  if (parser) parser.onIncoming = stopParsing
  socket.destroy()
}

/** The value that llhttp reads as a failure of its caller. */
function stopParsing(): number {
  return -1
}
