import type { Server, TLSSocket } from 'node:tls'

/** Cuts the open connections of which `isWanted` says no. */
export type ConnectionSweep = (isWanted: (socket: TLSSocket) => Promise<boolean>) => Promise<void>

export function createConnectionSweep(server: Server): ConnectionSweep {
  const open = new Set<TLSSocket>()
  server.on('secureConnection', (socket: TLSSocket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return async (isWanted) => {
    for (const [at, socket] of [...open].entries()) {
      // Thousands in one go would hold up every request.
      if (at % AT_ONCE === 0) await new Promise((resolve) => void setImmediate(resolve))
      if (!socket.destroyed && !(await isWanted(socket))) socket.destroy()
    }
  }
}

const AT_ONCE = 50
