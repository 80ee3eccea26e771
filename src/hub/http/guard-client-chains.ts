import type { Socket } from 'node:net'
import type { Server as TlsServer, TLSSocket } from 'node:tls'
import { clientRandomOf } from './client-flight.ts'
import { GuardedConnection } from './guarded-connection.ts'
import { createRecordOpener } from './record-opener.ts'

/** A connection that said hello, as TLS is to have it; undefined when it is to have none. */
export type GuardConnection = (socket: Socket, hello: Buffer) => GuardedConnection | undefined

/** The line of NSS's key log that has the secret of what a client says during the handshake, and that of TLS 1.2. */
const KEY_LOG = /^(CLIENT_HANDSHAKE_TRAFFIC_SECRET|CLIENT_RANDOM) ([0-9a-f]{64}) ([0-9a-f]+)\s*$/

/**
 * Bounds what a chain of certificates may cost before anything of it is verified. docs/protocol.md LIM-30.
 *
 * A TLS 1.3 client encrypts it. Node tells a server the secrets of its own handshakes, by the client's random: so no two
 * open connections may have the same one.
 */
export function guardClientChains(server: TlsServer): GuardConnection {
  const open = new Map<string, GuardedConnection>()
  server.on('keylog', (line: Buffer, tls: TLSSocket) => {
    const [, label, random = '', secret = ''] = KEY_LOG.exec(line.toString('latin1')) ?? []
    const connection = open.get(random)
    if (label === undefined || connection === undefined) return
    showAddresses(tls, connection.socket)
    if (label === 'CLIENT_RANDOM') return
    const opener = createRecordOpener(tls.getCipher().standardName, Buffer.from(secret, 'hex'))
    if (opener !== undefined) connection.useKey(opener)
  })
  return (socket, hello) => {
    const random = clientRandomOf(hello)
    if (open.has(random)) return undefined
    const connection = new GuardedConnection(socket)
    open.set(random, connection)
    connection.once('close', () => open.delete(random))
    return connection
  }
}

/** TLS over a stream knows no addresses. */
function showAddresses(tls: TLSSocket, socket: Socket): void {
  for (const name of ['remoteAddress', 'remotePort', 'remoteFamily'] as const) {
    Object.defineProperty(tls, name, { value: socket[name], configurable: true })
  }
}
