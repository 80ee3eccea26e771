// TCP between clients and servers on this machine: each connection of a client has one of the server's, and whatever joins the two decides what
// passes.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  readonly port: number
}

/** `join` passes on what comes on either; when one of them ends is its matter too. */
export async function startTcpProxy(
  target: { readonly host?: string; readonly port: number },
  join: (client: Socket, upstream: Socket) => void,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host ?? '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      // Whatever ends one side ends the other.
      socket.on('error', () => undefined)
    }
    join(client, upstream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // A server that listens on TCP has an address object.
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
