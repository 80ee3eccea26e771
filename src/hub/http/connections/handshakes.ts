import type { Server, Socket } from 'node:net'

export interface HandshakeListener {
  readonly begun?: (address: string) => void
  /** `socket` is the TCP connection below. */
  readonly ended?: (address: string, isSecured: boolean, socket: Socket) => void
}

/** The TLS handshakes that are under way on a server, by the TCP sockets below them. */
export interface Handshakes {
  underWay(): Iterable<Socket>
  addListener(listener: HandshakeListener): void
}

const followed = new WeakMap<Server, Handshakes>()

/** From the first call for a server on; a connection that an earlier listener of the server closed at once shakes no hands. */
export function handshakesOf(server: Server): Handshakes {
  const known = followed.get(server)
  if (known !== undefined) return known
  const handshakes = follow(server)
  followed.set(server, handshakes)
  return handshakes
}

function follow(server: Server): Handshakes {
  const underWay = new Map<string, { readonly socket: Socket; readonly address: string }>()
  const listeners: HandshakeListener[] = []
  const end = (peer: string, isSecured: boolean): void => {
    const handshake = underWay.get(peer)
    if (handshake === undefined) return
    underWay.delete(peer)
    for (const { ended } of listeners) ended?.(handshake.address, isSecured, handshake.socket)
  }
  server.on('connection', (socket: Socket) => {
    if (socket.destroyed) return
    const [peer, address] = [peerOf(socket), socket.remoteAddress ?? '']
    // The same port again, or none known, before the last one is known to be closed.
    end(peer, false)
    underWay.set(peer, { socket, address })
    for (const { begun } of listeners) begun?.(address)
    socket.once('close', () => {
      if (underWay.get(peer)?.socket === socket) end(peer, false)
    })
  })
  server.on('secureConnection', (socket: Socket) => end(peerOf(socket), true))
  return {
    underWay: () => [...underWay.values()].map(({ socket }) => socket),
    addListener: (listener) => void listeners.push(listener),
  }
}

/** Both ends of TLS on one connection have it in common, while each is a socket of its own. */
export function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
