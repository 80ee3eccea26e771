// Bounds on connections, applied before TLS or HTTP spend anything on them.

import type { Server, Socket } from 'node:net'
import type { HubLimits } from '../../../protocol/hub-limits.ts'
import { CallerCounts } from './caller-counts.ts'
import { callerOf } from './caller-key.ts'
import { handshakesOf } from './handshakes.ts'

type ConnectionLimits = Pick<
  HubLimits,
  'connections' | 'connectionsPerAddress' | 'handshakesPerAddress'
>

/** A connection over a limit is closed at once; addresses are counted as callers. Trusted proxies speak for many, so no per-address limit is theirs. */
export function guardConnections(
  server: Server,
  limits: ConnectionLimits,
  isTrustedProxy: (address: string) => boolean,
): void {
  const open = new CallerCounts()
  const shakingHands = new CallerCounts()
  let total = 0

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const isCapped = !isTrustedProxy(address)
    const caller = callerOf(address)
    const isOver =
      total >= limits.connections ||
      (isCapped && open.has(caller, limits.connectionsPerAddress)) ||
      (isCapped && shakingHands.has(caller, limits.handshakesPerAddress))
    if (isOver) {
      socket.destroy()
      return
    }
    total += 1
    open.add(caller)
    socket.once('close', () => {
      total -= 1
      open.remove(caller)
    })
  })
  if (!isTls(server)) return
  handshakesOf(server).addListener({
    begun: (address) => shakingHands.add(callerOf(address)),
    ended: (address) => shakingHands.remove(callerOf(address)),
  })
}

function isTls(server: Server): boolean {
  return 'setSecureContext' in server
}
