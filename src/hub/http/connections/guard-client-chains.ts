import type { Socket } from 'node:net'
import type { Server as TlsServer, TLSSocket } from 'node:tls'
import { GuardedConnection } from './guarded-connection.ts'
import type { HandshakeTurns } from './handshake-turns.ts'
import { createRecordOpener } from './record-opener.ts'

/** A connection that said hello, as TLS is to have it. */
export type GuardConnection = (socket: Socket, hello: Buffer) => GuardedConnection

/** The line of NSS's key log that has the secret of what a client says during the handshake, and the line of TLS 1.2. */
const KEY_LOG = /^(CLIENT_HANDSHAKE_TRAFFIC_SECRET|CLIENT_RANDOM) [0-9a-f]{64} ([0-9a-f]+)\s*$/

/**
 * Bounds what a chain of certificates may cost, before OpenSSL verifies a single signature. docs/protocol.md LIM-30.
 *
 * A TLS 1.3 client encrypts the chain, and Node tells a server the secrets of its own handshakes. A connection without its secret
 * gets no further. The connection of a line never follows from the content of the line, which the client can choose.
 */
export function guardClientChains(
  server: TlsServer,
  { verify }: Pick<HandshakeTurns, 'verify'>,
): GuardConnection {
  server.on('keylog', (line: Buffer, tls: TLSSocket) => {
    const [, label, secret = ''] = KEY_LOG.exec(line.toString('latin1')) ?? []
    const connection = streamBelow(tls)
    if (label === undefined || !(connection instanceof GuardedConnection)) return
    showAddresses(tls, connection.socket)
    makeNoCertificate(tls)
    if (label === 'CLIENT_RANDOM') return
    const opener = createRecordOpener(tls.getCipher().standardName, Buffer.from(secret, 'hex'))
    if (opener !== undefined) connection.useKey(opener)
  })
  return (socket, hello) => new GuardedConnection(socket, hello, verify)
}

/** TLS over a stream knows no addresses. */
function showAddresses(tls: TLSSocket, socket: Socket): void {
  for (const name of ['remoteAddress', 'remotePort', 'remoteFamily'] as const) {
    Object.defineProperty(tls, name, { value: socket[name], configurable: true })
  }
}

/**
 * After each handshake Node 24.21 makes an X509Certificate of the client's, only to see that there is one, since a resumed session may
 * have none (nodejs/node 64677). To make it, Node takes the first certificate above the leaf out of OpenSSL's list and never frees
 * it: 4.6 KB a handshake, for good. The hub resumes no session, and OpenSSL ends a handshake without a certificate.
 * docs/protocol.md LIM-66.
 */
function makeNoCertificate(tls: TLSSocket): void {
  const { _handle: handle } = tls as TLSSocket & { readonly _handle?: StreamHandle | null }
  if (handle) handle.getPeerX509Certificate = () => !tls.isSessionReused()
}

/**
 * The hub's own stream below TLS; undefined on a TCP socket, and for a client that hung up. Node has no documented name
 * for it. The callers must fail closed when a later Node no longer has this name.
 */
export function streamBelow(socket: TLSSocket): object | undefined {
  return (socket as TLSSocket & { readonly _handle?: StreamHandle | null })._handle?._parentWrap
    ?.stream
}

interface StreamHandle {
  readonly _parentWrap?: { readonly stream?: object }
  getPeerX509Certificate?: () => unknown
}
