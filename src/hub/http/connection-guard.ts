// Bounds on connections, applied before TLS or HTTP spend anything on them.

import type { Server, Socket } from 'node:net'
import type { HubLimits } from '../../protocol/hub-limits.ts'

type ConnectionLimits = Pick<
  HubLimits,
  'connections' | 'connectionsPerAddress' | 'handshakesPerAddress'
>

/** A connection over a limit is closed at once. Trusted proxies speak for many, so no per-address limit is theirs. */
export function guardConnections(
  server: Server,
  limits: ConnectionLimits,
  isTrustedProxy: (address: string) => boolean,
): void {
  const open = new Counter()
  const shakingHands = new Counter()
  const unfinished = new Set<string>()
  let total = 0

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const isCapped = !isTrustedProxy(address)
    const isOver =
      total >= limits.connections ||
      (isCapped && open.of(address) >= limits.connectionsPerAddress) ||
      (isCapped && shakingHands.of(address) >= limits.handshakesPerAddress)
    if (isOver) {
      socket.destroy()
      return
    }
    total += 1
    open.add(address)
    const peer = peerOf(socket)
    if (isTls(server)) {
      unfinished.add(peer)
      shakingHands.add(address)
    }
    socket.once('close', () => {
      total -= 1
      open.remove(address)
      if (unfinished.delete(peer)) shakingHands.remove(address)
    })
  })
  server.on('secureConnection', (socket: Socket) => {
    if (unfinished.delete(peerOf(socket))) shakingHands.remove(socket.remoteAddress ?? '')
  })
}

class Counter {
  readonly #counts = new Map<string, number>()
  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }
  add(key: string): void {
    this.#counts.set(key, this.of(key) + 1)
  }
  remove(key: string): void {
    const count = this.of(key) - 1
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }
}

/** Of both ends of TLS on one connection: each is a socket of its own. */
export function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}

function isTls(server: Server): boolean {
  return 'setSecureContext' in server
}
