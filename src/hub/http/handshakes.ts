import type { Server, Socket } from 'node:net'

export interface HandshakeListeners {
  readonly begun?: (address: string) => void
  readonly ended?: (address: string, isSecured: boolean) => void
}

/** The TLS handshakes that are under way on a server from now on, by the TCP sockets below them. */
export interface Handshakes {
  underWay(): Iterable<Socket>
}

/** A connection that an earlier listener closed at once shakes no hands. */
export function followHandshakes(server: Server, listeners: HandshakeListeners = {}): Handshakes {
  const underWay = new Map<string, { readonly socket: Socket; readonly address: string }>()
  const end = (peer: string, isSecured: boolean): void => {
    const handshake = underWay.get(peer)
    if (handshake === undefined) return
    underWay.delete(peer)
    listeners.ended?.(handshake.address, isSecured)
  }
  server.on('connection', (socket: Socket) => {
    if (socket.destroyed) return
    const [peer, address] = [peerOf(socket), socket.remoteAddress ?? '']
    underWay.set(peer, { socket, address })
    listeners.begun?.(address)
    socket.once('close', () => {
      if (underWay.get(peer)?.socket === socket) end(peer, false)
    })
  })
  server.on('secureConnection', (socket: Socket) => end(peerOf(socket), true))
  return { underWay: () => [...underWay.values()].map(({ socket }) => socket) }
}

/** Both ends of TLS on one connection have it in common, while each is a socket of its own. */
function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
