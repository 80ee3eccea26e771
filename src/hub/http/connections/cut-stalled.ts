import type { Server, Socket } from 'node:net'
import { peerOf } from './handshakes.ts'

export interface StallLimits {
  /** For how long a client may read nothing of what waits for it. */
  readonly stallMs: number
  /** How often that is looked at. */
  readonly checkIntervalMs?: number
  readonly onCut?: (socket: Socket) => void
}

interface Outflow {
  /** What the system took. */
  readonly sentBytes: number
  readonly sinceMs: number
}

/** What Node has below a socket; Node looks at it too, to tell a slow write from one that is stuck. */
interface Handle {
  /** Of all that was written, also by TLS, which writes to the handle and not to the socket. */
  readonly bytesWritten: number
  /** Of that, what the system has not taken yet. */
  readonly writeQueueSize: number
}

const CHECK_INTERVAL_MS = 2000

/**
 * Resets the connections on which nothing of what waits to be sent goes out, whatever it is: answers, blobs, streams. A client
 * that goes on taking some is only slow; the hub sees it whenever a third of what the system holds for it has gone. Reset, not
 * closed: the system would go on holding what it has taken, megabytes for each, for as long as the client answers that it has no
 * room; so too when a connection was idle for too long.
 * docs/protocol.md LIM-28.
 */
export function cutStalled(server: Server, options: StallLimits): void {
  const { stallMs, checkIntervalMs = CHECK_INTERVAL_MS, onCut } = options
  const outflows = new Map<Socket, Outflow | undefined>()
  const byPeer = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    outflows.set(socket, undefined)
    byPeer.set(peer, socket)
    socket.once('close', () => {
      outflows.delete(socket)
      if (byPeer.get(peer) === socket) byPeer.delete(peer)
    })
  })
  // Node's, of a connection that was kept for its next request: what a listener does, it leaves to it.
  server.on('timeout', (socket: Socket) => {
    const below = byPeer.get(peerOf(socket))
    if (below !== undefined) reset(below)
    socket.destroy()
  })
  const check = (): void => {
    // tidy: what goes out does so in real time, whatever a Clock says.
    const nowMs = performance.now()
    for (const [socket, last] of outflows) {
      const outflow = outflowOf(socket, nowMs)
      if (outflow === undefined || last?.sentBytes !== outflow.sentBytes) {
        outflows.set(socket, outflow)
      } else if (nowMs - last.sinceMs >= stallMs) {
        onCut?.(socket)
        reset(socket)
      }
    }
  }
  // tidy: as above.
  const timer = setInterval(check, checkIntervalMs).unref()
  server.once('close', () => clearInterval(timer))
}

/** Of a connection that has more for the system: undefined when it has not. */
function outflowOf(socket: Socket, nowMs: number): Outflow | undefined {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null }
  const { bytesWritten = 0, writeQueueSize = 0 } = handle ?? {}
  if (writeQueueSize === 0) return undefined
  return { sentBytes: bytesWritten - writeQueueSize, sinceMs: nowMs }
}

/** Only TCP can: what is on this machine's own sockets is freed with them. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}
