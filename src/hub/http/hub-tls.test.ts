import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  connect as connectTls,
  createServer as createTlsServer,
  type TlsOptions,
  type TLSSocket,
} from 'node:tls'
import { promisify } from 'node:util'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { collectGarbage } from '../../../test/support/collect-garbage.ts'
import { startTool, waitUntil } from '../../../test/support/processes.ts'
import type { HttpPort } from './http-port.ts'
import { handshakeTimeoutMs, tlsServerOf } from './hub-tls.ts'

/** RFC 8446 5.1: six bytes of a handshake record of 512. */
const START_OF_HELLO = Buffer.from('160301020001', 'hex')

let directory: string
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'hub-tls-'))
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const named = ['-subj', '/CN=hub', '-keyout', 'key.pem', '-out', 'cert.pem']
  execFileSync('openssl', [...made, ...named], { cwd: directory, stdio: 'ignore' })
})
after(() => rmSync(directory, { recursive: true }))

function writeSlowly(socket: Socket, [byte, ...rest]: Iterable<number>): void {
  if (byte === undefined) return
  socket.write(Buffer.from([byte]), () => writeSlowly(socket, rest))
}

async function echoOf(client: TLSSocket): Promise<string> {
  if (client.destroyed) return 'closed'
  client.write('hello')
  const closed = once(client, 'close').then(() => ['closed'])
  const [bytes] = await Promise.race([once(client, 'data'), closed])
  return String(bytes)
}

function bytesOfBuffers(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

describe('[LIM-8] [LIM-24] TLS on a port of the hub', () => {
  let server: Server
  let failures: number
  /** Of handshakes that TLS had begun. */
  let errors: string[]
  const clients: (Socket | Server)[] = []
  const start = async (handshakeSeconds: number, more: TlsOptions = {}): Promise<number> => {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(directory, name)))
    const limits = { handshakeSeconds }
    const tls = createTlsServer(
      { key, cert, handshakeTimeout: handshakeTimeoutMs(limits), ...more },
      (socket) => socket.pipe(socket),
    )
    tlsServerOf({ app: { server: tls } } as unknown as HttpPort, {
      log: pino({ level: 'silent' }),
      limits,
      onHandshakeFailure: () => (failures += 1),
    })
    tls.on('tlsClientError', (error) => errors.push(error.message))
    server = tls
    return listen(tls)
  }
  const listen = async (listener: Server): Promise<number> => {
    await once(listener.listen(0, '127.0.0.1'), 'listening')
    return (listener.address() as AddressInfo).port
  }
  const open = (port: number): Socket => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('error', () => undefined)
    clients.push(socket)
    return socket.resume()
  }
  /** A port that passes what clients say on to another, in its own way. */
  const passOn = async (
    port: number,
    pass: (upstream: Socket, bytes: Buffer) => void,
  ): Promise<number> => {
    const proxy = createServer((client) => {
      const upstream = open(port).setNoDelay(true)
      upstream.on('data', (bytes) => client.write(bytes))
      upstream.on('close', () => client.destroy())
      client.on('error', () => undefined)
      client.on('data', (bytes) => pass(upstream, bytes))
    })
    clients.push(proxy)
    return listen(proxy)
  }
  const shakeHands = (port: number): TLSSocket => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
    socket.on('error', () => undefined)
    clients.push(socket)
    return socket
  }
  /** On both sides: ours may know it first. */
  const closed = async (socket: Socket): Promise<void> => {
    await new Promise((resolve) => socket.once('close', resolve))
    const count = promisify(server.getConnections.bind(server))
    await waitUntil('the end of the connection', async () => (await count()) === 0 || undefined)
    await setImmediate()
  }
  beforeEach(() => {
    failures = 0
    errors = []
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) {
      if ('destroy' in client) client.destroy()
      else client.close()
    }
    await new Promise((resolve) => void server.close(resolve))
  })

  test('begins when the hello is whole, however it came', async () => {
    const client = shakeHands(await passOn(await start(30), writeSlowly))
    await once(client, 'secureConnect')
    assert.equal(await echoOf(client), 'hello')
    assert.equal(failures, 0)
  })

  test('lives on when the time for handshakes is over', async () => {
    const limitSeconds = 0.5
    const client = shakeHands(await start(limitSeconds))
    await once(client, 'secureConnect')
    const untilMs = performance.now() + 2 * limitSeconds * 1000
    await waitUntil('the end of that time', () => performance.now() > untilMs || undefined)
    assert.equal(await echoOf(client), 'hello')
    assert.equal(failures, 0)
  })

  for (const [name, bytes] of Object.entries({
    'nothing at all': Buffer.alloc(0),
    'less than the header of a record': START_OF_HELLO.subarray(0, 3),
    'a part of the hello': START_OF_HELLO,
  })) {
    test(`is not begun for whoever says ${name}, who is closed when the time is over`, async () => {
      const client = open(await start(0.2))
      client.write(bytes)
      await closed(client)
      assert.deepEqual([failures, errors], [1, []])
    })
  }

  test('that was begun is given up when its time is over', async () => {
    let flights = 0
    const port = await passOn(await start(0.5), (upstream, bytes) => {
      flights += 1
      if (flights === 1) upstream.write(bytes)
    })
    // TLS 1.2 has a second flight of the client's, which never comes.
    const client = connectTls({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
    })
    client.on('error', () => undefined)
    clients.push(client)
    await closed(client)
    assert.equal(failures, 1)
    assert.equal(errors.length, 1)
  })

  test('refuses at once what is no TLS', async () => {
    const client = open(await start(30))
    client.write('GET / HTTP/1.1\r\n\r\n')
    await closed(client)
    assert.equal(failures, 1)
    assert.match(errors[0] ?? '', /http request/)
  })

  test('sends the alert of a handshake that fails, also to an address that waits for its turn', async () => {
    const port = await start(30, { requestCert: true, rejectUnauthorized: true })
    // With a busy loop the client has answered before the next turn.
    let isBusy = true
    const keepBusy = (): void => {
      const untilMs = performance.now() + 20
      while (performance.now() < untilMs);
      if (isBusy) setTimeout(keepBusy, 1)
    }
    keepBusy()
    const client = ['s_client', '-ign_eof', '-connect', `127.0.0.1:${port}`]
    const alerts: (string | undefined)[] = []
    for (let round = 0; round < 3; round += 1) {
      const { stderr } = await startTool('openssl', client).ended
      alerts.push(/SSL alert number \d+/.exec(stderr)?.[0])
    }
    isBusy = false
    // RFC 8446 6: certificate_required.
    assert.deepEqual(alerts, Array(3).fill('SSL alert number 116'))
  })

  const partings: Record<string, (client: Socket) => void> = {
    closes: (client) => client.end(START_OF_HELLO),
    'is reset': (client) => client.resetAndDestroy(),
    'is reset in the middle of it': (client) =>
      client.write(START_OF_HELLO, () => client.resetAndDestroy()),
  }
  for (const [name, leave] of Object.entries(partings)) {
    test(`forgets a client that ${name} before it has said hello`, async () => {
      const client = open(await start(30))
      const [socket] = (await once(server, 'connection')) as [Socket]
      leave(client)
      await closed(socket)
      assert.deepEqual([failures, errors], [1, []])
    })
  }

  test('keeps nothing of the hello', async () => {
    const port = await start(30)
    let [begun, secured] = [0, 0]
    server.on('secureConnection', () => (secured += 1))
    // Names make it long, and it comes in many pieces.
    const ALPNProtocols = Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(120, '-'))
    const inPieces = await passOn(port, (upstream, bytes) => {
      for (let at = 0; at < bytes.length; at += 64) upstream.write(bytes.subarray(at, at + 64))
    })
    const shakeLongHands = async (): Promise<void> => {
      begun += 1
      const options = { host: '127.0.0.1', port: inPieces, rejectUnauthorized: false }
      const client = connectTls({ ...options, ALPNProtocols })
      clients.push(client)
      await once(client, 'secureConnect')
      await waitUntil('the other side', () => secured === begun || undefined)
    }
    await shakeLongHands()
    const beforeBytes = bytesOfBuffers()
    for (let count = 0; count < 40; count += 1) await shakeLongHands()
    const grownBytes = bytesOfBuffers() - beforeBytes
    // The clients, which are here too, keep their names.
    const namesBytes = ALPNProtocols.join().length
    assert.ok(grownBytes < 40 * (namesBytes + 8192), `${grownBytes} bytes for 40 connections`)
  })
})
