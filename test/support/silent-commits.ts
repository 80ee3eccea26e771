// Between a hub and its PostgreSQL, in the clear: passes on what it gets, and keeps back what the server says to a COMMIT while it is told to.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SilentCommits extends AsyncDisposable {
  readonly port: number
  /** From now on; each connection that has sent one hears nothing more. */
  isSilent: boolean
  /** COMMITs of which nobody has heard. */
  readonly unheard: number
}

export async function startSilentCommits(targetPort: number): Promise<SilentCommits> {
  const sockets = new Set<Socket>()
  const state = { isSilent: false, unheard: 0 }
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      // Whatever ends one side ends the other.
      socket.on('error', () => undefined)
    }
    let isUnheard = false
    client.on('data', (chunk) => {
      if (state.isSilent && chunk.includes('COMMIT')) {
        isUnheard = true
        state.unheard += 1
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!isUnheard) client.write(chunk)
    })
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // A server that listens on TCP has an address object.
    port: (server.address() as AddressInfo).port,
    get isSilent() {
      return state.isSilent
    },
    set isSilent(isSilent) {
      state.isSilent = isSilent
    },
    get unheard() {
      return state.unheard
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
