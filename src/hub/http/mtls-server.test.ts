import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, createServer, type Server } from 'node:tls'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { connectSecurely, exchange } from '../../../test/support/wire-client.ts'
import { createLogging } from '../../platform/logger.ts'
import { DEFAULT_HUB_LIMITS } from '../../protocol/hub-limits.ts'
import type { AuthenticateAgent } from '../service/agent/authenticate-agent.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import { createAgentStreams } from './agent-streams.ts'
import { createConnectionSweep } from './connections/connection-sweep.ts'
import { WIRE_ERRORS } from '../../protocol/errors.ts'
import { createAgentRefusals } from '../service/agent-refusals.ts'
import { createMtlsServer, type MtlsServer, type MtlsServerOptions } from './mtls-server.ts'

const NOW = new Date()
const AGENT = newAgent('web-1')

interface StartedServer {
  readonly server: MtlsServer
  readonly port: number
  readonly clientTls: { readonly ca: string; readonly cert: string; readonly key: string }
}

async function startServer(
  options: Partial<
    Pick<MtlsServerOptions, 'limits' | 'listManifest' | 'log' | 'onRefusal' | 'refusals'>
  >,
  authenticateAgent: (server: MtlsServer) => AuthenticateAgent,
): Promise<StartedServer> {
  const ca = await createFakeCa()
  const own = await ca.issueServer('hub.test')
  const client = await ca.issueServer('web-1')
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const unused = (): Promise<never> => assert.fail('this test asks for the manifest only')
  const clock = { now: () => NOW, sleep: () => Promise.resolve() }
  const server: MtlsServer = createMtlsServer({
    log: logging.forModule('test'),
    limits: DEFAULT_HUB_LIMITS,
    isTrustedProxy: () => false,
    clock,
    issueRates: { take: () => 0 },
    certificate: {
      keyPem: own.keyPem,
      chainPem: own.certificatePem,
      intermediatePems: [ca.intermediatePem],
      rootPem: ca.rootPem,
      serial: '1',
      sha256: '1'.repeat(64),
      notBefore: NOW,
      notAfter: NOW,
    },
    authenticateAgent: (presented) => authenticateAgent(server)(presented),
    issueCertificate: unused,
    recordEvent: unused,
    recordRecipient: unused,
    findBlob: unused,
    streams: createAgentStreams({ clock, log: logging.forModule('test'), readNews: unused }),
    offerRoots: async () => ({ numero: 1, roots: [ca.rootPem] }),
    auditLog: { header: () => undefined, describe: async () => undefined, prove: unused },
    receipts: { sign: () => undefined, examine: unused, takeBack: unused },
    listManifest: unused,
    ...options,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const clientTls = { ca: ca.rootPem, cert: client.certificatePem, key: client.keyPem }
  return { server, port, clientTls }
}

/** What a client gets for one request, and whether it was served. */
async function request(
  authenticateAgent: (server: MtlsServer) => AuthenticateAgent,
): Promise<{ readonly answer: string; readonly isServed: boolean }> {
  let isServed = false
  const listManifest = async (): Promise<{ entregas: [] }> => {
    isServed = true
    return { entregas: [] }
  }
  const { server, port, clientTls } = await startServer({ listManifest }, authenticateAgent)
  const socket = await connectSecurely({ port, tls: { ...clientTls, servername: 'hub.test' } })
  try {
    const bytes = 'GET /v1/manifest HTTP/1.1\r\nHost: hub.test\r\n\r\n'
    return { answer: await exchange(socket, bytes, (text) => text.endsWith('}')), isServed }
  } finally {
    socket.destroy()
    await server.close(0)
  }
}

test('[BOOT-18] a hub that stops waits for nobody who has not shaken hands', async () => {
  const limits = { ...DEFAULT_HUB_LIMITS, handshakeSeconds: Infinity }
  const { server, port } = await startServer({ limits }, () => () => assert.fail('nobody comes'))
  const client = connectTcp({ host: '127.0.0.1', port })
  client.on('error', () => undefined)
  await waitUntil(
    'the connection',
    async () => (await server.countConnections()) === 1 || undefined,
  )
  const stopped = server.close(60_000).then(() => 'stopped')
  const late = sleep(20_000, 'late', { ref: false })
  assert.equal(await Promise.race([stopped, late]), 'stopped')
})

test('[SRF-20] a connection that its client resets is no request that is refused', async () => {
  const lines: string[] = []
  const counted: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const logging = createLogging({ filter: { levelOf: () => 'debug' }, format: 'json', destination })
  const log = logging.forModule('test')
  const onRefusal = (port: string, code: string): unknown => counted.push(`${port} ${code}`)
  const { server, port, clientTls } = await startServer({ log, onRefusal }, () =>
    assert.fail('it asks for nothing'),
  )
  try {
    const socket = connectTcp({ host: '127.0.0.1', port })
    const tls = connectTls({ ...clientTls, socket, servername: 'hub.test' })
    // TLS 1.3 sends its tickets when it has taken the client's certificate.
    await once(tls, 'session')
    tls.write('GET /v1/manifest HTTP/1.1\r\n')
    socket.resetAndDestroy()
    await waitUntil('its end', async () => (await server.countConnections()) === 0 || undefined)
    assert.deepEqual({ lines, counted }, { lines: [], counted: [] })
  } finally {
    await server.close(0)
  }
})

test('[AUT-12] an agent that is revoked between the decision about its first request and the serving of it is not served', async () => {
  let isRevoked = false
  const { answer, isServed } = await request((server) => async () => {
    if (isRevoked) return { ok: false, refusal: 'agent_revoked' }
    // The revocation is through before whoever asked for this decision goes on with it.
    queueMicrotask(() => {
      isRevoked = true
      server.cutConnections(AGENT.id)
    })
    return { ok: true, agent: AGENT }
  })
  assert.equal(isServed, false)
  assert.match(answer, /^HTTP\/1\.1 401 [^]*\{"error":"agent_revoked"\}$/)
})

test('[API-120] the hub remembers what it refused to the agent that a certificate names, with the request id of the answer', async () => {
  for (const outcome of [
    { ok: false, refusal: 'agent_revoked', agentId: AGENT.id },
    { ok: true, agent: AGENT },
    { ok: false, refusal: 'agent_not_registered' },
  ] as const) {
    const refusals = createAgentRefusals({ now: () => NOW })
    const { server, port, clientTls } = await startServer({ refusals }, () => async () => outcome)
    const socket = await connectSecurely({ port, tls: { ...clientTls, servername: 'hub.test' } })
    try {
      const body = '{"csr_pem":1,"entrega_id":"d-1"}'
      const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      const bytes = `POST /v1/certs/issue HTTP/1.1\r\nHost: hub.test\r\n${head}\r\n${body}`
      const answer = await exchange(socket, bytes, (text) => text.endsWith('}'))
      const [, requestId = ''] = /x-request-id: (\S+)/i.exec(answer) ?? []
      const shown = await waitUntil('the end of the answer', async () => {
        const found = refusals.list(AGENT.id)
        return found.length > 0 || (!outcome.ok && !('agentId' in outcome)) ? found : undefined
      })
      const common = { operation: 'issue', requestId, at: NOW, since: NOW, times: 1 }
      const { when: reason } = WIRE_ERRORS.agent_revoked
      const expected = outcome.ok
        ? [{ ...common, code: 'request_invalid', reason: 'wrong shape', deliveryId: 'd-1' }]
        : [{ ...common, code: 'agent_revoked', reason, deliveryId: null }]
      assert.deepEqual(shown, 'agentId' in outcome || outcome.ok ? expected : [])
    } finally {
      socket.destroy()
      await server.close(0)
    }
  }
})

test('[TRU-11] connections by a client certificate that is not wanted any more are cut, idle or not, and no others', async () => {
  const sockets = new Map<string, EventEmitter & { destroyed: boolean; destroy(): void }>()
  const server = new EventEmitter()
  const sweep = createConnectionSweep(server as unknown as Server)
  for (const name of ['going', 'staying', 'gone']) {
    const socket = Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy: () => void (socket.destroyed = true),
    })
    sockets.set(name, socket)
    server.emit('secureConnection', socket)
  }
  sockets.get('gone')?.emit('close')
  const asked: unknown[] = []
  await sweep(async (socket) => {
    asked.push(socket)
    return (socket as unknown) === sockets.get('staying')
  })
  assert.deepEqual(asked, [sockets.get('going'), sockets.get('staying')])
  assert.deepEqual(
    [...sockets.values()].map(({ destroyed }) => destroyed),
    [true, false, false],
  )
})

test('[TRU-11] one that came before a root went and shakes hands only afterwards is cut: the old roots would judge it', async () => {
  const [old, next] = [await createFakeCa(), await createFakeCa()]
  const { certificatePem: cert, keyPem: key } = await next.issueServer('hub.test')
  const contextOf = (ca: string) => ({ cert, key, ca, requestCert: true, rejectUnauthorized: true })
  const server = createServer(contextOf(old.rootPem), (socket) => socket.end('served'))
  // Of those that it cuts.
  server.on('tlsClientError', () => undefined)
  const sweep = createConnectionSweep(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const waiting = connectTcp((server.address() as AddressInfo).port, '127.0.0.1')
  waiting.on('error', () => undefined)
  const cut = new Promise((resolve) => waiting.once('close', () => resolve('cut')))
  try {
    await once(server, 'connection')
    server.setSecureContext(contextOf(next.rootPem))
    await sweep(async () => true)
    const own = await old.issueServer('web-1')
    waiting.resume()
    const socket = connectTls({
      socket: waiting,
      servername: 'hub.test',
      ca: next.rootPem,
      cert: own.certificatePem,
      key: own.keyPem,
    })
    socket.on('error', () => undefined)
    const answer = new Promise((resolve) => socket.on('data', (chunk) => resolve(String(chunk))))
    const outcome = await Promise.race([cut, answer])
    assert.equal(outcome, 'cut')
  } finally {
    waiting.destroy()
    server.close()
  }
})
