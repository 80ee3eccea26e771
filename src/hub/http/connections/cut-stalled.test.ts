import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { createFakeCa } from '../../../../test/fakes/hub-certificates.ts'
import { waitUntil } from '../../../../test/support/processes.ts'
import { cutStalled } from './cut-stalled.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')
const STALL_MS = 300

const ca = await createFakeCa()
const { certificatePem, keyPem } = await ca.issueServer('127.0.0.1')

interface Way {
  readonly name: string
  readonly serve: (
    options: { readonly keepAliveTimeout: number },
    listener: RequestListener,
  ) => Server
  readonly reach: (port: number) => Socket
}

const WAYS: readonly Way[] = [
  {
    name: 'in plain text',
    serve: createServer,
    reach: (port) => connect({ host: '127.0.0.1', port }),
  },
  {
    // What TLS sends goes by the socket of the connection to the system.
    name: 'of TLS',
    serve: (options, listener) =>
      createTlsServer({ ...options, key: keyPem, cert: certificatePem }, listener),
    reach: (port) => connectTls({ host: '127.0.0.1', port, ca: ca.rootPem }),
  },
]

for (const { name, serve, reach } of WAYS)
  describe(`[LIM-28] a connection ${name}`, () => {
    let server: Server
    let client: Socket
    let answer: (response: ServerResponse) => void
    /** How the hub's side of it ended. */
    let ended: Promise<string>
    const start = async (keepAliveTimeout = 75_000, stallMs = STALL_MS): Promise<void> => {
      server = serve({ keepAliveTimeout }, (_request, response) => answer(response))
      cutStalled(server, { stallMs, checkIntervalMs: 50 })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const { port } = server.address() as AddressInfo
      const connected = once(server, 'connection') as Promise<[Socket]>
      client = reach(port)
      ended = new Promise((resolve) => {
        client.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
        client.once('close', () => resolve('closed'))
      })
      await connected
    }
    beforeEach(() => start())
    afterEach(() => {
      client.destroy()
      server.closeAllConnections()
      server.close()
    })
    const passed = async (milliseconds: number): Promise<void> => {
      const untilMs = performance.now() + milliseconds
      await waitUntil('that time', () => performance.now() > untilMs || undefined)
    }

    test('whose client takes nothing of an answer is reset', async () => {
      answer = (response) => response.end(LARGE)
      client.pause()
      client.write(GET)
      const count = () =>
        new Promise<number>((resolve) => server.getConnections((_error, open) => resolve(open)))
      await waitUntil('its end', async () => (await count()) === 0 || undefined)
      client.resume()
      assert.equal(await ended, 'ECONNRESET')
    })

    test('is so too when the hub has ever more to say', async () => {
      answer = (response) => {
        response.write(LARGE)
        const beat = setInterval(() => response.write(':\n\n'), 20)
        response.once('close', () => clearInterval(beat))
      }
      client.pause()
      client.write(GET)
      const [response] = (await once(server, 'request')).slice(1) as [ServerResponse]
      await once(response, 'close')
    })

    test('whose client is slow is left alone', async () => {
      client.destroy()
      server.close()
      const stallMs = 1500
      await start(75_000, stallMs)
      answer = (response) => response.end(LARGE)
      client.write(GET)
      let [bytes, pieceBytes] = [0, 0]
      client.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        pieceBytes += chunk.length
        // The system tells the hub of room for more only when there is much of it.
        if (pieceBytes > LARGE.length / 8) client.pause()
      })
      while (bytes < LARGE.length && !client.destroyed) {
        await passed(stallMs / 3)
        pieceBytes = 0
        client.resume()
      }
      assert.ok(bytes > LARGE.length, `${bytes} bytes`)
    })

    test('on which the hub has nothing to say stays open', async () => {
      let response: ServerResponse | undefined
      answer = (each) => (response = each)
      client.write(GET)
      await passed(4 * STALL_MS)
      response?.end('late')
      const [bytes] = (await once(client, 'data')) as [Buffer]
      assert.match(bytes.toString(), /^HTTP\/1\.1 200 /)
      await passed(4 * STALL_MS)
      assert.equal(client.destroyed, false)
    })

    test('that was kept for too long is reset', async () => {
      client.destroy()
      server.close()
      await start(100)
      answer = (response) => response.end('x')
      client.resume()
      client.write(GET)
      assert.equal(await ended, 'ECONNRESET')
    })
  })
