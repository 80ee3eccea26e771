import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { boundDroppedBody, boundPieces } from './bound-body.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const END = '0\r\n\r\n'

function chunkOf(bytes: number): string {
  return `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`
}

describe('[LIM-27] a body', () => {
  let server: Server
  let client: Socket
  let pieces: number
  let bound: (request: IncomingMessage) => void
  beforeEach(async () => {
    pieces = 0
    server = createServer((request, response) => {
      bound(request)
      request.on('data', () => (pieces += 1))
      request.on('end', () => response.end())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    client = connect({ host: '127.0.0.1', port })
    client.on('error', () => undefined)
  })
  afterEach(() => {
    client.destroy()
    server.closeAllConnections()
    server.close()
  })
  const answerTo = (body: string): Promise<string> =>
    new Promise((resolve) => {
      client.once('close', () => resolve('cut'))
      client.once('data', (bytes) => resolve(bytes.toString('latin1').slice(9, 12)))
      client.write(HEAD + body)
    })

  const readLate = (request: IncomingMessage): void => {
    boundPieces(request)
    request.pause()
    setImmediate(() => request.resume())
  }
  for (const [name, of] of Object.entries({ read: boundPieces, 'read late': readLate })) {
    test(`that is ${name} may have 256 pieces, however short`, async () => {
      bound = of
      assert.equal(await answerTo(chunkOf(1).repeat(250) + END), '200')
    })

    test(`that is ${name} may have as many as it likes of 256 bytes`, async () => {
      bound = of
      assert.equal(await answerTo(chunkOf(256).repeat(1000) + END), '200')
    })

    test(`that is ${name} is cut when it has more, and no more of it is looked at`, async () => {
      bound = of
      assert.equal(await answerTo(chunkOf(1).repeat(60_000) + END), 'cut')
      assert.ok(pieces <= 258, `${pieces} pieces`)
    })
  }

  test('[LIM-5] that is dropped is cut beyond 1 MiB', async () => {
    bound = boundDroppedBody
    assert.equal(await answerTo(chunkOf(65_536).repeat(17) + END), 'cut')
  })

  const dropMore = (request: IncomingMessage): void => boundDroppedBody(request, 4 * 1024 * 1024)
  test('[LIM-5] that is dropped may have more where that is said', async () => {
    bound = dropMore
    assert.equal(await answerTo(chunkOf(65_536).repeat(60) + END), '200')
  })

  test('[LIM-5] that is dropped in pieces of less than 4 KiB is cut beyond 1 MiB', async () => {
    bound = dropMore
    assert.equal(await answerTo(chunkOf(1024).repeat(1000) + END), '200')
  })

  test('[LIM-5] and no more of it is looked at', async () => {
    bound = dropMore
    assert.equal(await answerTo(chunkOf(1024).repeat(2000) + END), 'cut')
    assert.ok(pieces <= 1200, `${pieces} pieces`)
  })
})
