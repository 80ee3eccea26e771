import type { IncomingMessage } from 'node:http'

/** So many pieces cost little, however short they are; each beyond has to be worth it. */
const PIECES_FREE = 256
const PIECE_BYTES_MIN = 256

/**
 * Cuts the connection of a body that comes in tiny pieces: each is an event of its own, so that 64 KiB in chunks of one byte
 * took 200 ms of the event loop and more. Counted where the parser hands them on, whether somebody reads them or not.
 * docs/protocol.md LIM-27.
 */
export function boundPieces(request: IncomingMessage): void {
  if (!hasBody(request)) return
  const push = request.push.bind(request)
  let [bytes, pieces] = [0, 0]
  request.push = (chunk: Buffer | null) => {
    if (request.destroyed) return false
    bytes += chunk?.length ?? 0
    pieces += 1
    if (pieces <= PIECES_FREE + bytes / PIECE_BYTES_MIN) return push(chunk)
    request.socket.destroy()
    // So that the request takes no further bytes of what was read already.
    request.destroy()
    return false
  }
}

/** RFC 9112, 6.3. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

const DROPPED_BODY_BYTES_MAX = 1024 * 1024
/** Of what is dropped beyond that: nobody whose request is refused needs more events for it than one who is heard. */
const DROPPED_PIECE_BYTES_MIN = 4096

/**
 * Node drops what still comes after an answer, since closing at once could lose the answer; it does so without end. Many clients read
 * nothing before they have sent everything, and get no answer if the connection is cut meanwhile. docs/protocol.md LIM-5.
 */
export function boundDroppedBody(
  request: IncomingMessage,
  bytesMax: number = DROPPED_BODY_BYTES_MAX,
): void {
  let [bytes, pieces] = [0, 0]
  // Read as a body: a listener on the socket would take a TLS connection from its parser, and it would stall.
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    pieces += 1
    const isTiny = bytes > DROPPED_BODY_BYTES_MAX && bytes < pieces * DROPPED_PIECE_BYTES_MIN
    if (bytes > bytesMax || isTiny) request.socket.destroy()
  })
}
