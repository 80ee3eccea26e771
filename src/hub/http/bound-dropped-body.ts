import type { IncomingMessage } from 'node:http'

const DROPPED_BODY_BYTES_MAX = 1024 * 1024

/** Node drops what still comes after an answer, since closing at once could lose the answer; it does so without end. */
export function boundDroppedBody(request: IncomingMessage): void {
  const { socket } = request
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    if (request.complete) socket.off('data', count)
    else if (bytes > DROPPED_BODY_BYTES_MAX) socket.destroy()
  }
  socket.on('data', count)
}
