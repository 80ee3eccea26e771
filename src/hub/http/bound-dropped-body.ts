import type { IncomingMessage } from 'node:http'

const DROPPED_BODY_BYTES_MAX = 1024 * 1024

/** Node drops what still comes after an answer, since closing at once could lose the answer; it does so without end. */
export function boundDroppedBody(request: IncomingMessage): void {
  let bytes = 0
  // Read as a body: a listener on the socket would take a TLS connection from its parser, and it would stall.
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DROPPED_BODY_BYTES_MAX) request.socket.destroy()
  })
}
