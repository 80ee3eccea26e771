import type { Socket } from 'node:net'

/** RFC 8446 5.1: a byte of type, two of version, two of length, and then so many bytes. */
const HEADER_BYTES = 5
const HANDSHAKE = 22
const FRAGMENT_BYTES_MAX = 16_384

/**
 * Calls `then` when a whole first record of TLS has come, and leaves it to be read: until then a connection costs next to
 * nothing, however long its client takes. TLS refuses what cannot be such a record. A connection on which no whole record
 * comes in time is closed.
 */
export function awaitHello(socket: Socket, limitMs: number, then: () => void): void {
  // One buffer for the record, however many pieces it comes in, and not from Node's pool, which would keep more memory.
  let held = Buffer.alloc(0) as Buffer
  let bytes = 0
  const hold = (chunk: Buffer): void => {
    if (bytes === 0) held = chunk
    else {
      if (bytes + chunk.length > held.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (bytes + chunk.length))
        held.copy(larger, 0, 0, bytes)
        held = larger
      }
      chunk.copy(held, bytes)
    }
    bytes += chunk.length
  }
  const read = (): void => {
    for (let chunk = readChunk(socket); chunk !== null; chunk = readChunk(socket)) hold(chunk)
    if (bytes < HEADER_BYTES || bytes < bytesOfRecord(held)) return
    giveUp()
    socket.unshift(held.subarray(0, bytes))
    then()
  }
  // tidy: a connection lives in real time, whatever a Clock says.
  const timer = setTimeout(() => socket.destroy(), limitMs).unref()
  // Removes every listener: the connection may live for long, and keeps alive what a listener refers to.
  const giveUp = (): void => {
    clearTimeout(timer)
    socket.removeListener('readable', read)
    socket.removeListener('close', giveUp)
  }
  // Nothing else listens to the socket yet, and the client may reset it; also later, while it waits for TLS to begin.
  socket.on('error', ignore)
  socket.on('close', giveUp)
  socket.on('readable', read)
}

function readChunk(socket: Socket): Buffer | null {
  return socket.read() as Buffer | null
}

/** What cannot be a hello is whole as it is. */
function bytesOfRecord(start: Buffer): number {
  const fragmentBytes = start.readUInt16BE(3)
  const isHandshake = start[0] === HANDSHAKE && fragmentBytes <= FRAGMENT_BYTES_MAX
  return isHandshake ? HEADER_BYTES + fragmentBytes : 0
}

function ignore(): void {}
