// Batches to receivers of syslog over TLS: fakes that misbehave, and the real rsyslog.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createServer, type TlsOptions, type TLSSocket } from 'node:tls'
import { createFakeCa, type FakeCa } from '../../../test/fakes/hub-certificates.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { createRsyslog } from '../../../test/support/rsyslog.ts'
import { withTools } from '../../../test/support/tools.ts'
import type { WebhookId } from '../../protocol/identifiers.ts'
import { syslogFrame } from '../domain/syslog-frame.ts'
import { testMessage } from '../domain/webhook-message.ts'
import { createAddressLookup } from '../outbound/address-lookup.ts'
import { openSyslogConnection, type OwnPair } from './syslog-connection.ts'

const TEXT = '5 <13>15 <13>2'
const closing = new AsyncDisposableStack()
let ca: FakeCa
let pair: { certificatePem: string; keyPem: string }
let directory: string
before(async () => {
  ca = await createFakeCa()
  pair = await ca.issueServer('localhost')
  directory = await mkdtemp(join(tmpdir(), 'syslog-'))
})
after(async () => {
  await closing.disposeAsync()
  await rm(directory, { recursive: true })
})

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function serve(behave: (socket: TLSSocket) => void, options: TlsOptions = {}): Promise<number> {
  const server = createServer(
    { cert: pair.certificatePem, key: pair.keyPem, allowHalfOpen: true, ...options },
    (socket) => {
      socket.on('error', () => undefined)
      behave(socket)
    },
  )
  return listen(server)
}

interface Sending {
  readonly text?: string
  readonly host?: string
  readonly rootsPem?: readonly string[]
  readonly ownPair?: OwnPair
  readonly timeoutMs?: number
}

function send(port: number, sending: Sending = {}): Promise<void> {
  const connection = openSyslogConnection({
    receiver: { format: 'syslog', host: sending.host ?? 'localhost', port },
    rootsPem: sending.rootsPem ?? [ca.rootPem],
    lookup: createAddressLookup(),
    ownPair: sending.ownPair,
  })
  return connection.send(sending.text ?? TEXT, AbortSignal.timeout(sending.timeoutMs ?? 10_000))
}

const EARLY = /the receiver closed the connection before it had all|ECONNRESET|EPIPE|socket/

describe('[WHK-23] a batch over TLS', () => {
  test('is delivered when the receiver has read it to its end, and ends too', async () => {
    let got = ''
    const port = await serve((socket) => {
      socket.setEncoding('utf8').on('data', (chunk: string) => (got += chunk))
      socket.on('end', () => socket.end())
    })
    await send(port)
    assert.equal(got, TEXT)
  })

  const large = 'x'.repeat(8 * 1024 * 1024)
  const misbehaviours: [
    name: string,
    behave: (socket: TLSSocket) => void,
    text: string,
    error: RegExp,
  ][] = [
    ['closes at once', (socket) => socket.end(), large, EARLY],
    ['closes before it could have read', (socket) => socket.end(), TEXT, EARLY],
    [
      'closes in the middle of a frame',
      (socket) => socket.once('data', () => socket.end()),
      large,
      EARLY,
    ],
    [
      'resets in the middle of a frame',
      (socket) => socket.once('data', () => socket.destroy()),
      large,
      EARLY,
    ],
    ['never reads', (socket) => socket.pause(), large, /aborted due to timeout/],
    ['reads all, and never ends', (socket) => socket.resume(), TEXT, /aborted due to timeout/],
    [
      'talks without end',
      (socket) => {
        socket.resume()
        const pour = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) continue
        }
        socket.on('drain', pour)
        pour()
      },
      TEXT,
      /aborted due to timeout/,
    ],
  ]
  for (const [name, behave, text, error] of misbehaviours) {
    test(`is not delivered to a receiver that ${name}`, async () => {
      await assert.rejects(send(await serve(behave), { text, timeoutMs: 1000 }), error)
    })
  }

  test('is not delivered to what speaks no TLS, or nothing at all', async () => {
    const silent = await listen(createTcpServer())
    await assert.rejects(send(silent, { timeoutMs: 300 }), /aborted due to timeout/)
    const plain = await listen(createTcpServer((socket) => socket.end('220 hello\r\n')))
    await assert.rejects(send(plain), /wrong version number|SSL|packet length|EPROTO/i)
    const closed = createTcpServer()
    const port = await listen(closed)
    closed.close()
    await assert.rejects(send(port), /ECONNREFUSED/)
  })

  test('[WHK-14] is sent only to a receiver whose certificate is its own, and of a root that is trusted', async () => {
    let connections = 0
    const port = await serve((socket) => {
      connections += 1
      socket.resume().on('end', () => socket.end())
    })
    await assert.rejects(send(port, { rootsPem: [] }), /unable to|self-signed/)
    await assert.rejects(send(port, { host: '127.0.0.1' }), /does not match certificate's altnames/)
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' } as const
    await assert.rejects(send(await serve(() => undefined, old)), /protocol version|unsupported/i)
    await send(port)
    assert.ok(connections >= 1)
  })

  test('shows the hub’s certificate, as it is in its file then, to a receiver that asks for one', async () => {
    const peers: string[] = []
    const port = await serve(
      (socket) => {
        peers.push(String(socket.getPeerCertificate().subject?.CN))
        socket.resume().on('end', () => socket.end())
      },
      { requestCert: true, rejectUnauthorized: true, ca: ca.rootPem },
    )
    await assert.rejects(send(port), /certificate required|handshake failure|closed|ECONNRESET/)
    const ownPair = {
      certificatePath: join(directory, 'own.pem'),
      keyPath: join(directory, 'own.key'),
    }
    await assert.rejects(send(port, { ownPair }), /ENOENT/)
    for (const name of ['hub-1', 'hub-2']) {
      const own = await ca.issueServer(name)
      await writeFile(ownPair.certificatePath, own.certificatePem)
      await writeFile(ownPair.keyPath, own.keyPem)
      await send(port, { ownPair })
    }
    assert.deepEqual(peers, ['hub-1', 'hub-2'])
  })
})

describe('[WHK-23] the real rsyslog', withTools('rsyslogd'), () => {
  for (const driver of ['gtls', 'ossl'] as const) {
    test(`with ${driver} has each message of a batch, parsed, and knows the hub by its certificate`, async () => {
      const clients = { rootsPem: ca.rootPem + ca.intermediatePem, names: ['hub.example'] }
      await using rsyslog = await createRsyslog(directory, { driver, ...pair, clients })
      await rsyslog.start()
      const own = await ca.issueServer('hub.example')
      const ownPair = {
        certificatePath: join(directory, `${driver}.pem`),
        keyPath: join(directory, `${driver}.key`),
      }
      await writeFile(ownPair.certificatePath, own.certificatePem)
      await writeFile(ownPair.keyPath, own.keyPem)
      const id = '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
      const source = { hostname: 'hub.example', version: '1.2.3' }
      const timestamps = Array.from(
        { length: 100 },
        (_, at) => `2026-11-21T10:00:00.${String(at).padStart(6, '0')}Z`,
      )
      const frames = timestamps.map((timestamp) => syslogFrame(testMessage(id, timestamp), source))
      await send(rsyslog.port, { text: frames.join(''), ownPair })
      const lines = await waitUntil('all of them', async () => {
        const written = await rsyslog.lines()
        return written.length >= 100 ? written : undefined
      })
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as { time: string }).time),
        timestamps,
      )
      const { msg, ...fields } = JSON.parse(lines[0] ?? '') as Record<string, string>
      assert.deepEqual(fields, {
        pri: '109',
        protocol: '1',
        time: '2026-11-21T10:00:00.000000Z',
        hostname: 'hub.example',
        app: 'svc-server',
        procid: '-',
        msgid: 'webhook_test',
        data: '[origin software="svc-server" swVersion="1.2.3"]',
      })
      assert.deepEqual(JSON.parse(msg ?? ''), {
        type: 'webhook_test',
        timestamp: '2026-11-21T10:00:00.000000Z',
        data: { webhook_id: id },
      })
      // Nobody else.
      await assert.rejects(send(rsyslog.port, { text: frames[0] ?? '' }))
      assert.equal((await rsyslog.lines()).length, 100)
    })
  }
})
