// TLS as the hub offers it, on each of its ports that speaks it.

import { MessageChannel } from 'node:worker_threads'
import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Server as TlsServer, TlsOptions, TLSSocket } from 'node:tls'
import type { Logger } from '../../platform/logger.ts'
import type { HubLimits } from '../../protocol/hub-limits.ts'
import type { ServerCertificate } from '../service/upkeep/server-certificate.ts'
import type { HttpPort } from './http-port.ts'
import { boundReason } from './answer-log.ts'
import { awaitHello } from './connections/await-hello.ts'
import { createFloodLog } from './flood-log.ts'
import { guardClientChains, streamBelow } from './connections/guard-client-chains.ts'
import { chargeHandshake } from './connections/handshake-charges.ts'
import { createHandshakeTurns } from './connections/handshake-turns.ts'
import { handshakesOf } from './connections/handshakes.ts'
import { strangerTurns } from './connections/stranger-turns.ts'
import { waitAfterFailure } from './connections/wait-after-failure.ts'

/** Forward secrecy and authenticated encryption only: of TLS 1.2, OpenSSL's own default still offers CBC with SHA-1. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':')

/**
 * OpenSSL's own groups, in its order, without the groups that cost a server several times as much before it knows who asks: P-521
 * (4.9 ms a handshake, where the others take 1.5) and finite fields. What stands before a `/` goes before what follows, also
 * when a client has guessed otherwise.
 */
const GROUPS = 'X25519MLKEM768 / X25519:P-256 / X448:P-384'

export function hubTlsOptions(certificate: ServerCertificate): TlsOptions {
  return {
    key: certificate.keyPem,
    cert: certificate.chainPem,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    ecdhCurve: GROUPS,
    ALPNProtocols: ['http/1.1'],
    // A resumed session would bring back a certificate that expired, or was replaced, since; renegotiation is work that
    // a client can ask for again and again.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  }
}

type HandshakeLimits = Pick<HubLimits, 'handshakeSeconds'>

/** Node's timers know no infinity; a day is as good here. */
export function handshakeTimeoutMs({ handshakeSeconds }: HandshakeLimits): number {
  return Math.min(handshakeSeconds, 86_400) * 1000
}

export interface TlsServerOptions {
  readonly log: Logger
  /** Whether clients are asked for certificates, whose chains then have bounds. */
  readonly hasClientChains?: boolean
  /** Whose handshakes wait for their turn, and cost, also when they succeed: nobody knows them afterwards either. */
  readonly isStranger?: (address: string) => boolean
  readonly limits: HandshakeLimits
  readonly onHandshakeFailure?: (() => void) | undefined
}

/** About what a handshake costs that is not measured. */
const HANDSHAKE_MS = 1.5

/**
 * A failed handshake that costs more was made to cost more: the usual one takes 1.5 ms. It counts tenfold, so that even
 * clients that send such handshakes without a pause get less than a hundredth of the loop, and set no agent's p99.
 */
const DEAR_MS = 3
const DEAR_FACTOR = 10

const TOO_LATE = 'the hub has more handshakes to do than it can'

/** The TLS server below a port, which gives up connections whose handshake fails, and has strangers wait. */
export function tlsServerOf(port: HttpPort, options: TlsServerOptions): TlsServer {
  const { log, limits, onHandshakeFailure, isStranger } = options
  const server = port.app.server as unknown as TlsServer
  const turns = createHandshakeTurns({
    // tidy: clients wait in real time, whatever a Clock says.
    nowMs: () => performance.now(),
    inReadPhase: (work) => void readPhase().then(work),
  })
  const guard = options.hasClientChains === true ? guardClientChains(server, turns) : undefined
  const floodLog = createFloodLog({ log })
  /** Of the connections on which TLS has begun. */
  const costs = new WeakMap<Socket, () => number>()
  const addresses = new WeakMap<object, string | undefined>()
  waitAfterFailure(server, {
    isStranger,
    whenReady: (socket, then) => awaitHello(socket, handshakeTimeoutMs(limits), then),
    open: (socket, takeHello) => {
      const hello = takeHello()
      const stream = guard?.(socket, hello) ?? putBack(socket, hello)
      addresses.set(stream, socket.remoteAddress)
      costs.set(socket, () => ('handshakeMs' in stream ? stream.handshakeMs : HANDSHAKE_MS))
      return stream
    },
    turn: async (address) => {
      const outcome = await strangerTurns.take(address)
      await readPhase()
      return outcome
    },
    begin: turns.begin,
    onDrop: ({ remoteAddress: remote }) => {
      floodLog({ error: 'handshake_failed', reason: TOO_LATE, remote }, 'Handshake failed')
    },
  })
  handshakesOf(server).addListener({
    ended: (address, isSecured, socket) => {
      if (isSecured) return
      onHandshakeFailure?.()
      const costMs = costs.get(socket)?.() ?? 0
      if (costMs > 0) strangerTurns.charge(address, costMs * (costMs > DEAR_MS ? DEAR_FACTOR : 1))
    },
  })
  if (isStranger !== undefined) {
    server.on('secureConnection', (socket) => {
      if (isStranger(socket.remoteAddress ?? ''))
        chargeHandshake(strangerTurns, socket, HANDSHAKE_MS)
    })
  }
  server.on('tlsClientError', (error, socket) => {
    const reason = boundReason(refusalOfCertificate(socket) ?? error.message)
    const remote = addresses.get(streamBelow(socket) ?? socket) ?? socket.remoteAddress
    floodLog({ error: 'handshake_failed', reason, remote }, 'Handshake failed')
    // Nothing can be answered on it, so it would stay open as long as the client likes.
    socket.destroy()
  })
  return server
}

/** Where TLS reads from the socket itself. */
function putBack(socket: Socket, hello: Buffer): Socket {
  socket.unshift(hello)
  return socket
}

/** OpenSSL's name of what is wrong with the client's chain; to Node it is a connection that was hung up. */
function refusalOfCertificate({ authorizationError }: TLSSocket): string | undefined {
  const fault: unknown = authorizationError
  return typeof fault === 'string' ? fault : undefined
}

/**
 * Resolves in the phase of the event loop in which sockets are read; promises of timers and of setImmediate resolve in
 * others. TLS must begin there with a hello that has been read before: what Node's TLS writes is pending until the phase of
 * setImmediate, and the alert of a handshake that fails while it is so is never sent.
 */
const readPhase: () => Promise<void> = createReadPhase()

function createReadPhase(): () => Promise<void> {
  const waiting: (() => void)[] = []
  const { port1, port2 } = new MessageChannel()
  port2.on('message', () => waiting.shift()?.()).unref()
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      port1.postMessage(undefined)
    })
}
