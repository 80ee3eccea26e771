// An agent that was off for longer than its certificate lived, on real processes.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseCertificatePem } from '../../src/pki/certificates.ts'
import { readEvents, waitForEvent } from '../support/audit-log.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { type TestHub, WITH_ENROLL_TLS } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'

const EXPIRY_TIMEOUT_MS = 60_000
const FILES = ['agent.crt', 'agent.key', 'ca.pem']

describe('an identity that expired while its host was off', () => {
  let ca: RunningCa
  before(async () => {
    ca = await startDevCa({ certDuration: '20s' })
  })
  after(() => ca[Symbol.asyncDispose]())

  test('[REC-3] [REC-4] [AGT-61] is recovered without a person once both are back, and what was delivered is renewed', async () => {
    await using hub = await startHub(ca, {})
    await using host = await enrolHost(hub, 'asleep')
    const running = host.run()
    const crt = join(host.dataDir, 'out/site.crt')
    await hub.admin('POST', '/v1/admin/cargas', cargoFor(host))
    await waitUntil('the delivery', async () => (await readIfPresent(crt)) || undefined)
    running.kill('SIGKILL')
    await running.ended
    const { enroll, mtls } = hub.ports
    await hub.stop()
    const delivered = await serialOf(crt)
    const old = await waitForExpiry(host)

    // The hub was away as well: its own certificate is as short-lived as those of its agents here.
    await hub.start({
      SVC_ENROLL_BIND: `127.0.0.1:${enroll}`,
      SVC_MTLS_BIND: `127.0.0.1:${mtls}`,
    })
    // Over TLS by the hub itself, which this host trusts by the roots that it enrolled with.
    const url = `https://localhost:${hub.ports.enrollTls}`
    host.run('', { SVC_SERVER_URL: url })
    const renewed = await waitForEvent(hub, 'cert_renewed', host, ({ payload }) => {
      return payload['trigger'] === 'recovery'
    })
    assert.equal(renewed.payload['old_serial'], old)
    const [recovered] = await readEvents(hub, 'identity_recovered')
    assert.equal(recovered?.agente_id, null)
    assert.equal(recovered.payload['hostname'], 'asleep')
    await waitForEvent(hub, 'cert_renewed', host, ({ payload }) => payload['carga_nome'] === 'site')
    assert.notEqual(await serialOf(crt), delivered)
    const verify = ['verify', '-CAfile', ca.rootPath, '-untrusted', crt, crt]
    assert.match(await runTool('openssl', verify), /: OK$/m)
    assert.equal((await hub.svc('evento', 'list', '--verify', '--json')).status, 0)
  })

  test('[REC-2] is refused with a grace of 0, and then nothing is touched', async () => {
    await using hub = await startHub(ca, { SVC_RECOVERY_GRACE: '0' })
    await using host = await enrolHost(hub, 'too-late')
    await waitForExpiry(host)
    const identity = join(host.dataDir, 'identity')
    const readFiles = (): Promise<string[]> =>
      Promise.all(FILES.map((name) => readFile(join(identity, name), 'utf8')))
    const untouched = await readFiles()

    const running = host.run()
    await waitUntil('the refusal', () =>
      running.stderr().includes('recovery_refused') ? true : undefined,
    )
    assert.equal(running.hasEnded(), false)
    assert.deepEqual(await readFiles(), untouched)
    const status = JSON.parse((await host.agent('status', '--json')).stdout) as {
      state: string
      running: boolean
    }
    assert.equal(status.state, 'expired')
    assert.equal(status.running, true)
    assert.equal((await host.agent('check')).status, 0)
    const rotated = await host.agent('rotate')
    assert.equal(rotated.status, 1)
    assert.match(rotated.stderr, /401 recovery_refused/)
  })
})

function startHub(ca: RunningCa, environment: Record<string, string>): Promise<TestHub> {
  return startTestHub({
    caEnvironment: ca.environment,
    environment: { SVC_SERVER_CN: 'localhost', ...WITH_ENROLL_TLS, ...environment },
  })
}

function cargoFor(host: ManagedHost): object {
  return { tipo: 'csr_cert', nome: 'site', agentes: [host.hostname], roles: [], sans: [] }
}

/** The serial of the identity that has expired. */
async function waitForExpiry(host: ManagedHost): Promise<string> {
  const pem = await readFile(join(host.dataDir, 'identity/agent.crt'), 'utf8')
  const { notAfter, serial } = parseCertificatePem(pem)
  await waitUntil(
    'the identity to expire',
    () => (Date.now() > notAfter.getTime() + 1000 ? true : undefined),
    EXPIRY_TIMEOUT_MS,
  )
  return serial
}

async function readIfPresent(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

async function serialOf(path: string): Promise<string> {
  return parseCertificatePem(await readFile(path, 'utf8')).serial
}
