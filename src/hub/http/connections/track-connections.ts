import type { Server, Socket } from 'node:net'
import { handshakesOf } from './handshakes.ts'

export interface TrackedConnections {
  /** A request has come. */
  begin(socket: Socket): void
  /** It is answered. */
  finish(socket: Socket): void
  /** Also cuts connections that are still shaking hands, and from then on every connection that comes. */
  cutIdle(): void
}

/** Node closes idle connections only when they have had a request; one that never had any is as idle. */
export function trackConnections(server: Server, isTls: boolean): TrackedConnections {
  const idle = new Set<Socket>()
  let isCut = false
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (isCut) {
      socket.destroy()
      return
    }
    idle.add(socket)
    socket.once('close', () => idle.delete(socket))
  })
  return {
    begin: (socket) => {
      idle.delete(socket)
    },
    finish: (socket) => {
      if (!socket.destroyed) idle.add(socket)
    },
    cutIdle: () => {
      isCut = true
      const unsecured = isTls ? handshakesOf(server).underWay() : []
      for (const socket of [...idle, ...unsecured]) socket.destroy()
    },
  }
}
