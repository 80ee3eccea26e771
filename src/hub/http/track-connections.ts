import type { Server, Socket } from 'node:net'

export interface TrackedConnections {
  /** A request has come. */
  begin(socket: Socket): void
  /** It is answered. */
  finish(socket: Socket): void
  cutIdle(): void
}

/** Node closes idle connections only when they have had a request; one that never had any is as idle. */
export function trackConnections(server: Server, isTls: boolean): TrackedConnections {
  const idle = new Set<Socket>()
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
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
    cutIdle: () => idle.forEach((socket) => socket.destroy()),
  }
}
