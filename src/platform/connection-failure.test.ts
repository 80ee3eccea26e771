import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { get } from 'node:https'
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { Agent, request } from 'undici'
import { createFakeCa } from '../../test/fakes/hub-certificates.ts'
import { classifyConnectionFailure, describeConnectionFailure } from './connection-failure.ts'

const dispatcher = new Agent({ connect: { timeout: 1000 } })

const askByUndici = (port: number): Promise<unknown> =>
  request(`https://localhost:${port}/`, { dispatcher })

/** It writes before the handshake has ended, so that Node has no code for what OpenSSL says. */
const askByNode = (port: number): Promise<unknown> => once(get({ port }), 'response')

async function failureAt(server: Server, ask = askByUndici): Promise<[string, string]> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await ask(port)
    return assert.fail('it was answered')
  } catch (error) {
    return [classifyConnectionFailure(error), describeConnectionFailure(error)]
  } finally {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
}

test('a server without TLS is said to have none', async () => {
  for (const ask of [askByUndici, askByNode]) {
    const failure = await failureAt(createHttpServer(), ask)
    assert.deepEqual(failure, ['no_tls', 'it does not speak TLS'])
  }
})

test('a server that ends the handshake is quoted in one line', async () => {
  const [failure, reason] = await failureAt(createTlsServer({ minVersion: 'TLSv1.3' }))
  assert.equal(failure, 'tls_refused')
  assert.match(reason, /^TLS: [^\n:]+$/)
})

test('a certificate that nobody vouches for is not trusted', async () => {
  const { certificatePem: cert, keyPem: key } = await (
    await createFakeCa()
  ).issueServer('localhost')
  const [failure] = await failureAt(createTlsServer({ cert, key }))
  assert.equal(failure, 'untrusted')
})

test('a certificate with other names is said to be for them, whatever their kind', async () => {
  const ca = await createFakeCa()
  const { certificatePem: cert, keyPem: key } = await ca.issueServer('localhost')
  const trusting = new Agent({ connect: { ca: ca.rootPem, timeout: 1000 } })
  const failure = await failureAt(createTlsServer({ cert, key }), (port) =>
    request(`https://127.0.0.1:${port}/`, { dispatcher: trusting }),
  )
  assert.deepEqual(failure, ['other_names', 'its certificate is for localhost, not for 127.0.0.1'])
})

test('silence is a timeout', async () => {
  const [failure] = await failureAt(createTcpServer())
  assert.equal(failure, 'timeout')
})

test('a name that DNS does not know, or nobody answers for, is said in words', () => {
  for (const [code, words] of [
    ['ENOTFOUND', 'DNS knows no address of hub.example'],
    ['EAI_AGAIN', 'no name server answers for hub.example'],
  ] as const) {
    const error = Object.assign(new Error(`getaddrinfo ${code} hub.example`), {
      code,
      hostname: 'hub.example',
    })
    assert.deepEqual(
      [classifyConnectionFailure(error), describeConnectionFailure(error)],
      ['unreachable', words],
    )
  }
})
