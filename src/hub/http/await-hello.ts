import type { Socket } from 'node:net'

/** RFC 8446 5.1: a byte of type, two of version, two of length, and then so many bytes. */
const HEADER_BYTES = 5
const HANDSHAKE = 22
const FRAGMENT_BYTES_MAX = 16_384

/**
 * Calls `then` when a whole first record of TLS has come, and leaves it to be read: until then a connection costs nothing
 * but itself, whoever it is that takes their time. What cannot be one is left to TLS to refuse. A connection on which
 * nothing like it comes in time is closed.
 */
export function awaitHello(socket: Socket, limitMs: number, then: () => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  let wanted = HEADER_BYTES
  const read = (): void => {
    for (let chunk = readChunk(socket); chunk !== null; chunk = readChunk(socket)) {
      chunks.push(chunk)
      bytes += chunk.length
    }
    if (bytes >= HEADER_BYTES && wanted === HEADER_BYTES) {
      wanted = bytesOfRecord(Buffer.concat(chunks))
    }
    if (bytes < wanted) return
    clearTimeout(timer)
    socket.removeListener('readable', read)
    socket.removeListener('end', destroyOnEnd)
    socket.unshift(Buffer.concat(chunks))
    then()
  }
  // tidy: a connection lives in real time, whatever a Clock says.
  const timer = setTimeout(() => socket.destroy(), limitMs).unref()
  // It is nobody's yet, and may be reset or closed meanwhile.
  socket.on('error', ignore)
  socket.once('close', () => clearTimeout(timer))
  socket.on('end', destroyOnEnd)
  socket.on('readable', read)
}

function readChunk(socket: Socket): Buffer | null {
  return socket.read() as Buffer | null
}

function bytesOfRecord(start: Buffer): number {
  const fragmentBytes = start.readUInt16BE(3)
  const isHandshake = start[0] === HANDSHAKE && fragmentBytes <= FRAGMENT_BYTES_MAX
  return isHandshake ? HEADER_BYTES + fragmentBytes : 0
}

function ignore(): void {}

function destroyOnEnd(this: Socket): void {
  this.destroy()
}
