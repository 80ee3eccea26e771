import type { Socket } from 'node:net'

/** RFC 8446 5.1: a byte of type, two of version, two of length, and then so many bytes. */
const HEADER_BYTES = 5
const HANDSHAKE = 22
const FRAGMENT_BYTES_MAX = 16_384

/** No client has more to say before it is answered. */
const WAITING_BYTES_MAX = 64 * 1024

/** What the client has said; from then on the socket is paused, and nothing listens to it. */
export type TakeHello = () => Buffer

/**
 * Calls `then` when a whole first record of TLS has come. Until then a connection costs next to nothing, however long its
 * client takes. TLS refuses what cannot be such a record. A connection on which no whole record comes in time is closed. Until
 * the hello is taken the hub goes on reading, to see when the client goes: nobody shakes hands with one that has gone.
 */
export function awaitHello(
  socket: Socket,
  limitMs: number,
  then: (takeHello: TakeHello) => void,
): void {
  // One buffer for the record, however many pieces it comes in, and not from Node's pool, which would keep more memory.
  let held = Buffer.alloc(0) as Buffer
  let bytes = 0
  let isWhole = false
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
  const read = (chunk: Buffer): void => {
    hold(chunk)
    if (isWhole) {
      if (bytes > WAITING_BYTES_MAX) socket.destroy()
      return
    }
    if (bytes < HEADER_BYTES || bytes < bytesOfRecord(held)) return
    isWhole = true
    clearTimeout(timer)
    then(() => {
      giveUp()
      socket.pause()
      return held.subarray(0, bytes)
    })
  }
  const leave = (): void => void socket.destroy()
  // tidy: a connection lives in real time, whatever a Clock says.
  const timer = setTimeout(leave, limitMs).unref()
  // Removes every listener: the connection may live for long, and keeps alive what a listener refers to.
  const giveUp = (): void => {
    clearTimeout(timer)
    socket.removeListener('data', read)
    socket.removeListener('end', leave)
    socket.removeListener('close', giveUp)
  }
  // Nothing else listens to the socket yet, and the client may reset it.
  socket.on('error', ignore)
  socket.on('close', giveUp)
  socket.on('end', leave)
  socket.on('data', read)
}

/** What cannot be a hello is whole as it is. */
function bytesOfRecord(start: Buffer): number {
  const fragmentBytes = start.readUInt16BE(3)
  const isHandshake = start[0] === HANDSHAKE && fragmentBytes <= FRAGMENT_BYTES_MAX
  return isHandshake ? HEADER_BYTES + fragmentBytes : 0
}

function ignore(): void {}
