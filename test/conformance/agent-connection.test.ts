// A connection that an agent keeps open, while the hub renews its own certificate: docs/protocol.md VLT-12.
// Inside one process, since a hub that runs looks at its certificate once a minute and by the real clock.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent as HttpsAgent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { parseProvisionerKey } from '../../src/hub/ca/provisioner-key.ts'
import { createStepCaClient } from '../../src/hub/ca/step-ca-client.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import { createAgentStreams } from '../../src/hub/http/agent-streams.ts'
import { createMtlsServer } from '../../src/hub/http/mtls-server.ts'
import { DEFAULT_HUB_LIMITS } from '../../src/protocol/hub-limits.ts'
import {
  keepServerCertificateFresh,
  obtainServerCertificate,
} from '../../src/hub/service/upkeep/server-certificate.ts'
import { createCsrPem, parseCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import type { AgentId } from '../../src/protocol/identifiers.ts'
import { startFakeCa } from '../fakes/ca-server.ts'
import { waitUntil } from '../support/processes.ts'
import { newAgent } from '../store/store-samples.ts'

const MINUTE_MS = 60_000
const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

/** Time passes when a test says so; whoever sleeps wakes then. */
class ManualClock implements Clock {
  offsetMs = 0
  #sleepers: (() => void)[] = []

  now(): Date {
    return new Date(Date.now() + this.offsetMs)
  }
  sleep(_durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#sleepers.push(resolve)
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  }
  /** Resolves when whoever slept is done with what it woke for, and sleeps again. */
  async advance(durationMs: number): Promise<void> {
    const sleepers = this.#sleepers
    this.#sleepers = []
    this.offsetMs += durationMs
    for (const wake of sleepers) wake()
    await waitUntil('the sleeper to sleep again', () => this.#sleepers.length > 0 || undefined)
  }
}

const AGENT: Agent = {
  ...newAgent('web-1'),
  id: '11111111-1111-4111-8111-111111111111' as AgentId,
  createdAt: new Date(),
}

interface Answer {
  readonly status: number | undefined
  /** Of the certificate that the hub showed on this connection. */
  readonly serial: string
  readonly localPort: number | undefined
}

function poll(agent: HttpsAgent, port: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path: '/v1/manifest', servername: 'hub.test' })
      .on('error', reject)
      .on('response', (response) => {
        const socket = response.socket as TLSSocket
        const serial = socket.getPeerCertificate().serialNumber
        const { localPort } = socket
        response.resume().on('end', () => {
          resolve({ status: response.statusCode, serial, localPort })
        })
      })
      .end()
  })
}

test('[VLT-12] the hub renews its certificate by a third of its life, and drops no connection for it', async () => {
  const clock = new ManualClock()
  await using stack = new AsyncDisposableStack()
  // Its certificates live for two hours, of which one is over.
  const ca = stack.use(await startFakeCa())
  const vaultRoot = await mkdtemp(join(tmpdir(), 'vault-'))
  stack.defer(() => rm(vaultRoot, { recursive: true }))
  const authority = stack.use(
    createStepCaClient({
      caUrl: new URL(ca.url),
      rootPem: ca.rootPem,
      provisionerKey: parseProvisionerKey(ca.provisionerKey),
      provisionerKid: ca.provisionerKid,
      clock,
      logger: LOG,
    }),
  )
  const key = await generateEcP256Key()
  const csr = parseCsrPem(await createCsrPem('web-1', key))
  assert.ok(csr)
  const { chainPem } = await authority.sign({ csr, commonName: 'web-1', sans: ['web-1'] })

  const dependencies = {
    authority,
    clock,
    log: LOG,
    vaultRoot,
    names: ['hub.test'],
    rootsHeldTo: async () => undefined,
  }
  const stop = new AbortController()
  let { certificate } = await obtainServerCertificate(
    dependencies,
    stop.signal,
    async () => undefined,
  )
  const unused = (): never => assert.fail('only the manifest is asked for')
  const server = createMtlsServer({
    log: LOG,
    clock,
    issueRates: { take: () => 0 },
    limits: DEFAULT_HUB_LIMITS,
    isTrustedProxy: () => false,
    certificate,
    authenticateAgent: () => Promise.resolve({ ok: true, agent: AGENT }),
    listManifest: () => Promise.resolve({ entregas: [] }),
    issueCertificate: unused,
    recordEvent: unused,
    recordRecipient: unused,
    findBlob: unused,
    streams: createAgentStreams({ clock, log: LOG, readNews: unused }),
    offerRoots: async () => ({ numero: 1, roots: [ca.rootPem] }),
    auditLog: { header: () => undefined, describe: async () => undefined, prove: unused },
    receipts: { sign: () => undefined, examine: unused, takeBack: unused },
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const kept = keepServerCertificateFresh(
    dependencies,
    () => certificate,
    (renewed) => {
      certificate = renewed
      server.replaceCertificate(renewed)
    },
    stop.signal,
  )
  stack.defer(async () => {
    stop.abort()
    await kept
    await server.close(0)
  })
  const connect = (): HttpsAgent => {
    const agent = new HttpsAgent({
      keepAlive: true,
      ca: ca.rootPem,
      cert: chainPem,
      key: key.pem,
    })
    stack.defer(() => agent.destroy())
    return agent
  }

  const keptOpen = connect()
  const first = await poll(keptOpen, port)
  assert.equal(first.status, 200)
  await clock.advance(15 * MINUTE_MS)
  assert.equal((await poll(connect(), port)).serial, first.serial)
  await clock.advance(10 * MINUTE_MS)
  const other = await poll(connect(), port)
  assert.equal(other.status, 200)
  assert.notEqual(other.serial, first.serial)
  assert.deepEqual(await poll(keptOpen, port), first)
  const stored = new X509Certificate(await readFile(join(vaultRoot, 'server.crt')))
  assert.equal(stored.serialNumber, other.serial)
})
