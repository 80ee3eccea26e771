import assert from 'node:assert/strict'
import { hash, X509Certificate } from 'node:crypto'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createSecureContext, createServer, type TlsOptions, TLSSocket } from 'node:tls'
import { createPairMaterial } from '../../../test/support/pair-material.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { awaitServedSerial, probeServed } from './probe.ts'
import type { PairMaterial } from './render-content.ts'
import type { TargetProbe } from './target.ts'

const DEADLINE_MS = 20_000

let first: PairMaterial
let second: PairMaterial
before(async () => {
  first = await createPairMaterial('ec-p256', 'first.example')
  second = await createPairMaterial('rsa-2048', 'second.example')
})

const running: Server[] = []
const sockets = new Set<Socket>()
after(() => {
  for (const server of running) server.close()
  for (const socket of sockets) socket.destroy()
})

describe('a TLS server', () => {
  test('[TGT-12] is asked for the serial that it serves, whoever issued it', async () => {
    for (const material of [first, second]) {
      const probe = await probeOf(createServer(serving(material)))
      assert.deepEqual(await ask(probe), { ok: true, ...servedOf(material) })
    }
  })

  test('[TGT-12] is sent a server name only when the probe has one', async () => {
    const names: (string | undefined)[] = []
    const server = createServer({
      ...serving(first),
      SNICallback(name, callback) {
        const isSecond = name === 'second.example'
        callback(null, createSecureContext(serving(isSecond ? second : first)))
      },
    })
    server.on('secureConnection', (socket) => names.push(socket.servername || undefined))
    const probe = await probeOf(server)
    const byName = await ask({ ...probe, serverName: 'second.example' })
    assert.deepEqual(byName, { ok: true, ...servedOf(second) })
    assert.deepEqual(await ask(probe), { ok: true, ...servedOf(first) })
    assert.ok(names.every((name) => name === undefined || name === 'second.example'))
  })

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`[TGT-12] that demands a client's certificate has shown its own: ${maxVersion}`, async () => {
      const mutual = { requestCert: true, rejectUnauthorized: true, ca: first.caPem, maxVersion }
      const probe = await probeOf(createServer({ ...serving(first), ...mutual }))
      assert.deepEqual(await ask(probe), { ok: true, ...servedOf(first) })
    })
  }

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`[TGT-46] sees a whole handshake, and a connection that ends as it should: ${maxVersion}`, async () => {
      const seen: string[] = []
      const server = createServer({ ...serving(first), maxVersion }, (socket) => {
        seen.push('handshake')
        socket.on('error', (error) => seen.push(error.message))
        socket.on('end', () => seen.push('end'))
        socket.resume()
      })
      server.on('tlsClientError', (error) => seen.push(error.message))
      const probe = await probeOf(server)
      for (let round = 1; round <= 5; round += 1) {
        assert.deepEqual(await ask(probe), { ok: true, ...servedOf(first) })
        await waitUntil('the end', () => seen.length >= 2 * round || undefined)
      }
      assert.deepEqual(seen, Array.from({ length: 5 }, () => ['handshake', 'end']).flat())
    })
  }

  test('[TGT-12] is reached over IPv6', async (t) => {
    const server = createServer(serving(first))
    try {
      const probe = await probeOf(server, '::1')
      assert.deepEqual(await ask(probe), { ok: true, ...servedOf(first) })
    } catch (error) {
      if (!String(error).includes('EADDRNOTAVAIL')) throw error
      t.skip('this machine has no IPv6')
    }
  })
})

describe('a PostgreSQL server', () => {
  /** What PostgreSQL does before anything else: it reads an SSLRequest, and answers with one letter. */
  function postgresServer(answer: string | Buffer, material?: PairMaterial): Server {
    return createTcpServer((socket) => {
      keep(socket)
      socket.once('data', (request: Buffer) => {
        assert.deepEqual([...request], [0, 0, 0, 8, 4, 210, 22, 47])
        socket.write(answer)
        if (material === undefined) return
        socket.pause()
        keep(new TLSSocket(socket, { isServer: true, ...serving(material) }))
      })
    })
  }

  test('[TGT-12] is asked for TLS in its own way', async () => {
    const probe = await probeOf(postgresServer('S', first))
    const result = await ask({ ...probe, protocol: 'postgres' })
    assert.deepEqual(result, { ok: true, ...servedOf(first) })
  })

  const refusals = [
    ['does without TLS', 'N'],
    ['answers with an error', 'Eno such thing\0'],
    ['says more than it should before the handshake', 'Sx'],
    ['says nothing but garbage', Buffer.alloc(100_000, 0xff)],
  ] as const
  for (const [what, answer] of refusals) {
    test(`[TGT-12] that ${what} is no answer`, async () => {
      const probe = await probeOf(postgresServer(answer))
      assert.deepEqual(await ask({ ...probe, protocol: 'postgres' }), {
        ok: false,
        reason: `127.0.0.1:${probe.port} is not a PostgreSQL server that offers TLS`,
      })
    })
  }
})

describe('a hostile server', () => {
  const endless = (chunk: Buffer) => (socket: Socket) => {
    keep(socket)
    const pour = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  }
  const hang = (socket: Socket): void => void keep(socket).resume()
  const drop = (socket: Socket): void => void keep(socket).destroy()
  const reset = (socket: Socket): void => void keep(socket).resetAndDestroy()
  /** The head of a TLS record of handshake type, and then as much as it says, again and again. */
  const record = Buffer.concat([Buffer.from([22, 3, 3, 0x40, 0]), Buffer.alloc(0x4000, 2)])

  const servers: readonly [string, (socket: Socket) => void, RegExp][] = [
    ['hangs', hang, /did not answer within 0\.5 s$/],
    ['closes at once', drop, /closed the connection$|ECONNRESET$/],
    ['resets at once', reset, /ECONNRESET$|closed the connection$/],
    ['sends endless garbage', endless(Buffer.alloc(65_536, 'x')), /TLS: ERR_SSL_/],
    ['sends endless zeros', endless(Buffer.alloc(65_536)), /TLS: ERR_SSL_/],
    ['sends endless TLS records', endless(record), /TLS: ERR_SSL_|did not answer/],
    [
      'speaks HTTP',
      (socket) => keep(socket).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /TLS: ERR_SSL_/,
    ],
    ['sends one byte a moment', drip, /did not answer within 0\.5 s$/],
  ]
  function drip(socket: Socket): void {
    keep(socket).resume()
    const hello = Buffer.from([22, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc, 3, 3])
    let at = 0
    const timer = setInterval(() => void socket.write(hello.subarray(at, ++at)), 20)
    socket.on('close', () => clearInterval(timer))
  }

  for (const [what, onConnection, reason] of servers) {
    for (const protocol of ['tls', 'postgres'] as const) {
      test(`[TGT-12] that ${what} is over in time, for ${protocol}`, async () => {
        const probe = await probeOf(createTcpServer(onConnection))
        const startedMs = performance.now()
        const result = await probeServed({ ...probe, protocol }, { deadlineMs: 500 })
        assert.ok(performance.now() - startedMs < DEADLINE_MS)
        assert.ok(!result.ok)
        if (protocol === 'tls') assert.match(result.reason, reason)
        assert.ok(result.reason.length < 250, result.reason)
      })
    }
  }

  test('[TGT-12] none that listens is said so', async () => {
    const server = createTcpServer()
    const probe = await probeOf(server)
    await new Promise((resolve) => server.close(resolve))
    assert.deepEqual(await ask(probe), {
      ok: false,
      reason: `127.0.0.1:${probe.port} cannot be reached: ECONNREFUSED`,
    })
  })
})

describe('waiting for a serial', () => {
  test('[TGT-12] ends when the server, reloaded meanwhile, serves it', async () => {
    const server = createServer(serving(first))
    let asked = 0
    server.on('connection', () => {
      asked += 1
      if (asked === 2) server.setSecureContext(serving(second))
    })
    const probe = await probeOf(server)
    assert.deepEqual(await awaitServedSerial(probe, serialOf(second), DEADLINE_MS), { ok: true })
    assert.ok(asked >= 2)
  })

  test('[TGT-12] gives up in time and says which serial it saw last', async () => {
    const probe = await probeOf(createServer(serving(first)))
    const startedMs = performance.now()
    assert.deepEqual(await awaitServedSerial(probe, serialOf(second), 700), {
      ok: false,
      reason: `127.0.0.1:${probe.port} serves serial ${serialOf(first)}, not ${serialOf(second)}`,
    })
    const tookMs = performance.now() - startedMs
    assert.ok(tookMs >= 400 && tookMs < DEADLINE_MS, `${tookMs} ms`)
  })

  test('[TGT-12] a last attempt that there was no time left for hides nothing', async () => {
    const answering = createServer(serving(first))
    // The first connection is answered, and every later one is left to wait.
    const server = createTcpServer((socket) => {
      if (asked++ === 0) answering.emit('connection', socket)
    })
    let asked = 0
    const probe = await probeOf(server)
    assert.deepEqual(await awaitServedSerial(probe, serialOf(second), 2000), {
      ok: false,
      reason: `127.0.0.1:${probe.port} serves serial ${serialOf(first)}, not ${serialOf(second)}`,
    })
    assert.equal(asked, 2)
  })

  test('[TGT-12] gives a server that is down for a moment the time to come back', async () => {
    const closed = createTcpServer()
    const probe = await probeOf(closed)
    await new Promise((resolve) => closed.close(resolve))
    const waiting = awaitServedSerial(probe, serialOf(first), DEADLINE_MS)
    await probeOf(createServer(serving(first)), '127.0.0.1', probe.port)
    assert.deepEqual(await waiting, { ok: true })
  })
})

function ask(probe: TargetProbe) {
  return probeServed(probe, { deadlineMs: DEADLINE_MS })
}

function serving({ leafPem, chainPems, keyPem }: PairMaterial): TlsOptions {
  return { cert: leafPem + chainPems.join(''), key: keyPem }
}

function servedOf({ leafPem }: PairMaterial) {
  const { serialNumber, raw } = new X509Certificate(leafPem)
  return { serial: serialNumber.toLowerCase(), sha256: hash('sha256', raw, 'hex') }
}

function serialOf({ leafPem }: PairMaterial): string {
  return new X509Certificate(leafPem).serialNumber.toLowerCase()
}

function keep<T extends Socket>(socket: T): T {
  sockets.add(socket)
  socket.on('error', () => undefined)
  return socket
}

async function probeOf(server: Server, host = '127.0.0.1', port = 0): Promise<TargetProbe> {
  running.push(server)
  server.on('connection', keep)
  server.listen(port, host)
  await new Promise((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { host, port: address.port, protocol: 'tls', serverName: undefined }
}
