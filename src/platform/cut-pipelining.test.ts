import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { collectGarbage } from '../../test/support/collect-garbage.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { cutPipelining } from './cut-pipelining.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

describe('[SRF-24] a connection', () => {
  let server: Server
  let client: Socket
  let closed: Promise<unknown>
  let seen: ServerResponse[]
  let cuts: Socket[]
  let answer: (response: ServerResponse) => void
  beforeEach(async () => {
    ;[seen, cuts] = [[], []]
    const listener = cutPipelining(
      (_request, response) => {
        seen.push(response)
        answer(response)
      },
      (socket) => cuts.push(socket),
    )
    server = createServer(listener)
    server.on('clientError', (_error, socket) => socket.destroy())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    client = connect({ host: '127.0.0.1', port }).setNoDelay(true).resume()
    client.on('error', () => undefined)
    closed = new Promise((resolve) => client.once('close', resolve))
  })
  afterEach(() => {
    client.destroy()
    server.closeAllConnections()
    server.close()
  })

  test('with thousands of requests costs one, and one that is cut', async () => {
    answer = () => undefined
    client.write(GET.repeat(50_000))
    await closed
    assert.deepEqual([seen.length, cuts.length], [1, 1])
  })

  test('is cut by two in one piece, whose answers come at once', async () => {
    answer = (response) => response.end()
    client.write(GET + GET)
    await closed
    assert.deepEqual([seen.length, cuts.length], [1, 1])
  })

  test('may ask again when all of an answer may be there, and only its end is not known', async () => {
    answer = (response) => response.writeHead(200, { 'content-length': 1 }).write('x')
    client.write(GET)
    await once(client, 'data')
    client.write(GET)
    await once(server, 'request')
    assert.equal(seen.length, 2)
    client.write(GET)
    await closed
    assert.deepEqual([seen.length, cuts.length], [2, 1])
  })

  test('keeps nothing of answers that are done while it is idle', async () => {
    // Node would end the idle connection.
    server.keepAliveTimeout = 0
    const answered: WeakRef<ServerResponse>[] = []
    answer = (response) => {
      answered.push(new WeakRef(response))
      seen = []
      response.end('x')
    }
    for (let count = 0; count < 10; count += 1) {
      client.write(GET)
      await once(client, 'data')
    }
    await waitUntil('answers that nobody holds', () => {
      collectGarbage()
      return answered.every((one) => one.deref() === undefined) || undefined
    })
    assert.equal(answered.length, 10)
  })

  test('that waits for its answers is left alone', async () => {
    answer = (response) => void setImmediate(() => response.end('x'))
    for (let count = 0; count < 100; count += 1) {
      client.write(GET)
      await once(client, 'data')
    }
    assert.deepEqual([seen.length, cuts.length], [100, 0])
  })
})
