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

async function writeSlowly(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    socket.write(Buffer.from([byte]))
    await setImmediate()
  }
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
  /** A port that passes what clients say on to another, a byte at a time, as long as `isPassed` says so. */
  const passOn = async (port: number, isPassed: () => boolean = () => true): Promise<number> => {
    const proxy = createServer((client) => {
      const upstream = open(port)
      upstream.setNoDelay(true).pipe(client)
      client.on('error', () => undefined)
      client.on('data', (bytes) => {
        if (isPassed()) void writeSlowly(upstream, bytes)
      })
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
    const client = shakeHands(await passOn(await start(30)))
    await once(client, 'secureConnect')
    client.write('hello')
    assert.equal(String((await once(client, 'data'))[0]), 'hello')
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
    let hellos = 0
    const port = await passOn(await start(0.5), () => (hellos += 1) === 1)
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

  test('forgets a client that closes before it has said hello', async () => {
    const client = open(await start(30))
    const [socket] = (await once(server, 'connection')) as [Socket]
    client.end(START_OF_HELLO)
    await closed(socket)
    assert.deepEqual([failures, errors], [1, []])
  })
})
