import type { Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { invariant } from '../../../platform/errors.ts'
import type { TakeHello } from './await-hello.ts'
import { callerOf } from './caller-key.ts'
import { handshakesOf } from './handshakes.ts'
import type { GuardedConnection } from './guarded-connection.ts'
import type { HandshakeTurns } from './handshake-turns.ts'
import type { TurnOutcome } from './stranger-turns.ts'

/** On which TLS shakes hands. */
type StreamBelow = Socket | GuardedConnection

/** Beyond it the oldest are forgotten, and are as good as new. */
const ADDRESSES_MAX = 10_000

export interface HandshakeWaits {
  /** Whose handshakes always wait for their turn; by default only those of addresses whose last one failed. */
  readonly isStranger?: ((address: string) => boolean) | undefined
  /** Calls back when there is something to shake hands with. */
  readonly whenReady: (socket: Socket, then: (takeHello: TakeHello) => void) => void
  /** TLS begins: the stream that it is to have, which says the same again. */
  readonly open: (socket: Socket, takeHello: TakeHello) => StreamBelow
  /** Of a stranger. */
  readonly turn: (address: string) => Promise<TurnOutcome>
  /** Of anybody else. */
  readonly begin: HandshakeTurns['begin']
  readonly onDrop: (socket: Socket) => void
}

/**
 * TLS begins on a connection when it is ready. Handshakes of an address whose last one failed then wait for their turn, so
 * that strangers hold up no agent, and are closed when there is no place to wait. An address that has succeeded no longer waits.
 * One that the hub was too slow for has not failed.
 */
export function waitAfterFailure(server: TlsServer, waits: HandshakeWaits): void {
  const failed = new Set<string>()
  /** For the hub, which has other handshakes to do. */
  const waiting = new WeakSet<Socket>()
  handshakesOf(server).addListener({
    ended: (address, isSecured, socket) => {
      if (waiting.has(socket)) return
      const { key } = callerOf(address)
      failed.delete(key)
      if (isSecured) return
      failed.add(key)
      if (failed.size > ADDRESSES_MAX) failed.delete(failed.values().next().value ?? '')
    },
  })
  // TLS begins with the first listener, which the server came with. It becomes the last: what another one closes at once,
  // for being one too many, costs no TLS.
  const [beginTls] = server.listeners('connection') as ((stream: StreamBelow) => void)[]
  invariant(beginTls, 'a TLS server listens to its connections')
  server.removeListener('connection', beginTls)
  const begin = (socket: Socket, takeHello: TakeHello): void => {
    if (!socket.destroyed) beginTls.call(server, waits.open(socket, takeHello))
  }
  const beginInTurn = async (
    socket: Socket,
    address: string,
    takeHello: TakeHello,
  ): Promise<void> => {
    if ((await waits.turn(address)) === 'full') socket.destroy()
    begin(socket, takeHello)
  }
  const beginNext = (socket: Socket, takeHello: TakeHello): void => {
    waiting.add(socket)
    waits.begin({
      isGone: () => socket.destroyed,
      begin: () => {
        waiting.delete(socket)
        begin(socket, takeHello)
      },
      drop: () => {
        waits.onDrop(socket)
        socket.destroy()
      },
    })
  }
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (socket.destroyed) return
    waits.whenReady(socket, (takeHello) => {
      if (waits.isStranger?.(address) === true || failed.has(callerOf(address).key))
        void beginInTurn(socket, address, takeHello)
      else beginNext(socket, takeHello)
    })
  })
}
