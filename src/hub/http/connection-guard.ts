// Bounds on connections, applied before TLS or HTTP spend anything on them.

import type { Server, Socket } from 'node:net'
import type { HubLimits } from '../../protocol/hub-limits.ts'
import { handshakesOf } from './handshakes.ts'
import { KeyCounts } from './key-counts.ts'

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
  const open = new KeyCounts()
  const shakingHands = new KeyCounts()
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
    socket.once('close', () => {
      total -= 1
      open.remove(address)
    })
  })
  if (!isTls(server)) return
  handshakesOf(server).addListener({
    begun: (address) => shakingHands.add(address),
    ended: (address) => shakingHands.remove(address),
  })
}

function isTls(server: Server): boolean {
  return 'setSecureContext' in server
}
