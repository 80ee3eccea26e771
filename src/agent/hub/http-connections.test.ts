import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { after, describe, test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { waitUntil } from '../../../test/support/processes.ts'
import { createHttpConnections, type HttpConnections, type HttpReply } from './http-connections.ts'

const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())

interface Place {
  readonly url: URL
  /** All that were opened. */
  readonly sockets: Socket[]
}

async function listen(server: Server, protocol = 'http:'): Promise<Place> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: new URL(`${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}/`),
    sockets,
  }
}

function open(connectTimeoutMs?: number): HttpConnections {
  const connections = createHttpConnections(() => createSecureContext(), connectTimeoutMs)
  stack.defer(() => connections.destroy())
  return connections
}

function send(
  connections: HttpConnections,
  { url }: Place,
  signal = new AbortController().signal,
): Promise<HttpReply> {
  return connections.send({ url, method: 'GET', headers: {}, signal })
}

async function read({ body }: HttpReply): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Says half of what it promises. */
const half: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-length': '10' }).write('half')
}

describe('the connections to a server', () => {
  test('are kept for the next request, and closed with the last', async () => {
    const place = await listen(createServer((_request, response) => response.end('whole')))
    const connections = open()
    for (let count = 0; count < 3; count += 1) {
      assert.equal(await read(await send(connections, place)), 'whole')
    }
    assert.equal(place.sockets.length, 1)
    await connections.close()
    await waitUntil('the connection to end', () => place.sockets[0]?.closed || undefined)
  })

  test('are closed when what is under way has ended', async () => {
    const server = createServer()
    const place = await listen(server)
    const connections = open()
    const reply = send(connections, place).then(read)
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
    let isClosed = false
    const close = async (): Promise<void> => {
      await connections.close()
      isClosed = true
    }
    const closed = close()
    assert.equal(isClosed, false)
    response.end('whole')
    assert.equal(await reply, 'whole')
    await closed
  })

  test('leave nothing on a signal that outlives the request', async () => {
    const { signal } = new AbortController()
    const place = await listen(createServer((_request, response) => response.end('whole')))
    const connections = open()
    for (let count = 0; count < 3; count += 1) await read(await send(connections, place, signal))
    await waitUntil(
      'the listeners to be gone',
      () => getEventListeners(signal, 'abort').length === 0 || undefined,
    )
  })
})

describe('a request', () => {
  test('ends with the reason of its signal, before it is answered and after', async () => {
    const silent = await listen(createServer(() => undefined))
    const halfway = await listen(createServer(half))
    const early = new AbortController()
    const unanswered = send(open(), silent, early.signal)
    early.abort(new Error('enough'))
    await assert.rejects(unanswered, /^Error: enough$/)
    const late = new AbortController()
    const reply = await send(open(), halfway, late.signal)
    late.abort(new Error('enough'))
    await assert.rejects(read(reply), /^Error: enough$/)
    await assert.rejects(
      send(open(), halfway, AbortSignal.abort(new Error('never'))),
      /^Error: never$/,
    )
  })

  test('is not left waiting by a server that does not finish the handshake', async () => {
    const place = await listen(createTcpServer(), 'https:')
    await assert.rejects(send(open(100), place), {
      name: 'TimeoutError',
      message: 'timeout: no connection after 100 ms',
    })
  })

  test('is not left waiting by a server that says nothing, or nothing more', async () => {
    const silenceMs = { headers: 100, body: 100 }
    const silent = { name: 'TimeoutError', message: 'timeout: nothing came for 100 ms' }
    const ask = ({ url }: Place): Promise<HttpReply> => {
      const { signal } = new AbortController()
      return open().send({ url, method: 'GET', headers: {}, signal, silenceMs })
    }
    await assert.rejects(ask(await listen(createServer(() => undefined))), silent)
    const reply = await ask(await listen(createServer(half)))
    await assert.rejects(read(reply), silent)
  })

  test('fails when its reply is cut short', async () => {
    const place = await listen(
      createServer((request, response) => {
        half(request, response)
        setImmediate(() => response.destroy())
      }),
    )
    await assert.rejects(send(open(), place).then(read))
  })
})
