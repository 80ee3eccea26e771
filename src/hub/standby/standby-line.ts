// Where a hub takes the connection of its standby. The standby connects, and from then on the hub asks on it. docs/protocol.md STB-4.

import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { BindAddress } from '../../platform/bind-address.ts'
import type { Logger } from '../../platform/logger.ts'
import { describeListenFailure } from '../../platform/listen-failure.ts'
import type { StandbyTls } from './standby-tls.ts'

export interface StandbyLine {
  readonly port: number
  /** Of the standby that is connected. */
  readonly address: () => string | undefined
  /** Its connection, for one that asks on it until it closes. Throws when no standby is connected. */
  take(): TLSSocket
  /** What was taken goes on. */
  close(): Promise<void>
}

const CONNECTIONS_MAX = 16
const HANDSHAKE_MS = 5000

export async function listenForStandby(
  bind: BindAddress,
  tls: StandbyTls,
  log: Logger,
): Promise<StandbyLine> {
  let current: TLSSocket | undefined
  let isTaken = false
  const isHeld = (): boolean => current !== undefined && isTaken && !current.destroyed
  const server = createServer(
    {
      ...tls,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      handshakeTimeout: HANDSHAKE_MS,
    },
    (socket) => {
      const { remoteAddress: address } = socket
      // The one that asks on it is told too.
      socket.on('error', () => undefined)
      if (isHeld()) {
        // The hub asks each second, and gives up a standby that is silent.
        log.debug({ address }, 'Another standby was turned away')
        socket.destroy()
        return
      }
      current?.destroy()
      log.debug({ address }, 'Standby connected')
      current = socket
      isTaken = false
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('tlsClientError', (error, socket) => {
    log.debug({ reason: error.message }, 'Not a standby of this vault')
    socket.destroy()
  })
  try {
    await once(server.listen(bind.port, bind.host), 'listening')
  } catch (error) {
    throw describeListenFailure(error, bind, 'SVC_STANDBY_BIND')
  }
  // A connection that could not be taken; the standby tries again.
  server.on('error', (error) => log.error({ reason: error.message }, 'Standby port failed'))
  return {
    // A server that listens on TCP has an address object.
    port: (server.address() as AddressInfo).port,
    address: () => (current?.destroyed === false ? current.remoteAddress : undefined),
    take: () => {
      if (current === undefined || current.destroyed || isTaken) {
        throw new Error('no standby is connected')
      }
      isTaken = true
      return current
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of connections) socket.destroy()
      await closed
    },
  }
}
