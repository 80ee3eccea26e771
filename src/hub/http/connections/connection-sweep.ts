import type { Server, TLSSocket } from 'node:tls'
import { handshakesOf } from './handshakes.ts'

/**
 * Cuts the open connections that `isWanted` does not want, and all connections that are still shaking hands: TLS judges
 * their certificates by the roots of when they came.
 */
export type ConnectionSweep = (isWanted: (socket: TLSSocket) => Promise<boolean>) => Promise<void>

export function createConnectionSweep(server: Server): ConnectionSweep {
  const handshakes = handshakesOf(server)
  const open = new Set<TLSSocket>()
  server.on('secureConnection', (socket: TLSSocket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return async (isWanted) => {
    for (const socket of handshakes.underWay()) socket.destroy()
    for (const [at, socket] of [...open].entries()) {
      // Thousands in one go would hold up every request.
      if (at % AT_ONCE === 0) await new Promise((resolve) => void setImmediate(resolve))
      if (!socket.destroyed && !(await isWanted(socket))) socket.destroy()
    }
  }
}

const AT_ONCE = 50
