import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Server as TlsServer } from 'node:tls'
import { invariant } from '../../../platform/errors.ts'
import { callerOf } from './caller-key.ts'
import { handshakesOf } from './handshakes.ts'
import type { TurnOutcome } from './stranger-turns.ts'

/** Beyond it the oldest are forgotten, and are as good as new. */
const ADDRESSES_MAX = 10_000

export interface HandshakeWaits {
  /** Calls back when there is something to shake hands with, and with the stream on which TLS is to do it. */
  readonly whenReady: (socket: Socket, then: (stream: Duplex) => void) => void
  readonly turn: (address: string) => Promise<TurnOutcome>
}

/**
 * TLS begins on a connection when it is ready. Handshakes of an address whose last one failed then wait for their turn, so
 * that strangers hold up no agent, and are closed when there is no place to wait. An address that has succeeded no longer waits.
 */
export function waitAfterFailure(server: TlsServer, { whenReady, turn }: HandshakeWaits): void {
  const failed = new Set<string>()
  handshakesOf(server).addListener({
    ended: (address, isSecured) => {
      const { key } = callerOf(address)
      failed.delete(key)
      if (isSecured) return
      failed.add(key)
      if (failed.size > ADDRESSES_MAX) failed.delete(failed.values().next().value ?? '')
    },
  })
  // TLS begins with the first listener, which the server came with. It becomes the last: what another one closes at once,
  // for being one too many, costs no TLS.
  const [beginTls] = server.listeners('connection') as ((stream: Duplex) => void)[]
  invariant(beginTls, 'a TLS server listens to its connections')
  server.removeListener('connection', beginTls)
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (socket.destroyed) return
    whenReady(socket, (stream) => {
      const begin = (outcome: TurnOutcome): void => {
        if (outcome === 'full') socket.destroy()
        if (!socket.destroyed) beginTls.call(server, stream)
      }
      if (failed.has(callerOf(address).key)) void turn(address).then(begin)
      else begin('begun')
    })
  })
}
