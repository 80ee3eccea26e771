// The main job as stories on real processes, with whatever CA.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { waitForEvent } from '../support/audit-log.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'

export function tellMainJob(
  name: string,
  options: { skip?: string | boolean },
  startCa: (options: { certDuration?: string }) => Promise<RunningCa>,
): void {
  describe(`the main job with ${name}`, options, () => {
    let ca: RunningCa
    let hub: HubProcess
    before(async () => {
      ca = await startCa({})
      hub = await startHub(ca)
    })
    after(async () => {
      await hub[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    })

    test('[AGT-20] a delivery is installed, its hook run, its event recorded', async () => {
      await using host = await enrolHost(hub, 'web-01')
      host.run()
      const deliveryId = await createCargo(hub, 'site', host)
      const installed = await waitForEvent(hub, 'entrega_instalada', host)

      assert.equal(installed.entrega_id, deliveryId)
      const crt = join(host.dataDir, 'out/site.crt')
      const key = join(host.dataDir, 'out/site.key')
      const { serialNumber } = new X509Certificate(await readFile(crt))
      const serial = serialNumber.toLowerCase()
      const where = { cert_path: crt, key_path: key, carga_nome: 'site' }
      assert.deepEqual(installed.payload, { ...where, serial })
      await assertMatchingPair(crt, key, ca.rootPath)
      const mode = async (path: string): Promise<string> =>
        ((await stat(path)).mode & 0o777).toString(8)
      assert.equal(await mode(await realpath(key)), '600')
      assert.equal(await mode(await realpath(crt)), '644')
      const [hookLine] = await waitUntil('the hook', async () => nonEmpty(await host.hookLines()))
      assert.equal(hookLine, `installed site ${await serialOf(crt)}`)
      assert.match(await readFile(join(host.dataDir, 'state/processed.json'), 'utf8'), /site/)
      const { entregas } = await hub.admin<{ entregas: { status: string }[] }>(
        'GET',
        '/v1/admin/entregas',
      )
      assert.deepEqual(
        entregas.map(({ status }) => status),
        ['instalada'],
      )
    })

    test('[AGT-34] rotate beside a running agent changes the identity that it goes on with', async () => {
      await using host = await enrolHost(hub, 'web-02')
      host.run()
      await waitForEvent(hub, 'agent_started', host)
      const oldSerial = await serialOf(join(host.dataDir, 'identity/agent.crt'))
      const { status, stdout } = await host.agent('rotate')
      assert.equal(status, 0)
      const newSerial = await serialOf(join(host.dataDir, 'identity/agent.crt'))
      assert.notEqual(newSerial, oldSerial)
      assert.ok(stdout.includes(oldSerial) && stdout.includes(newSerial), stdout)
      const { payload } = await waitForEvent(hub, 'cert_renewed', host)
      assert.deepEqual(payload, { old_serial: oldSerial, new_serial: newSerial, trigger: 'manual' })
      await waitUntil('the hub to see the new identity', async () =>
        (await showAgent(hub, host)).cert_serial === newSerial ? true : undefined,
      )
    })

    test('[AUT-3] a revoked agent gets nothing more, and loses nothing that it has', async () => {
      await using host = await enrolHost(hub, 'web-03')
      const running = host.run()
      await createCargo(hub, 'kept', host)
      await waitForEvent(hub, 'entrega_instalada', host)
      const crt = join(host.dataDir, 'out/kept.crt')
      const contentBefore = await readFile(crt, 'utf8')
      await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
      await waitUntil('the agent to be refused', () =>
        running.stderr().includes('agent_revoked') ? true : undefined,
      )
      assert.equal(running.hasEnded(), false)
      assert.equal(await readFile(crt, 'utf8'), contentBefore)
    })

    test('[RES-8] a hub that is killed comes back, and its agents go on without a person', async () => {
      await using host = await enrolHost(hub, 'web-04')
      host.run()
      await waitForEvent(hub, 'agent_started', host)
      const ports = hub.ports
      await hub.stop('SIGKILL')
      await hub.start({
        SVC_ENROLL_BIND: `127.0.0.1:${ports.enroll}`,
        SVC_MTLS_BIND: `127.0.0.1:${ports.mtls}`,
      })
      await createCargo(hub, 'after-the-crash', host)
      await waitForEvent(hub, 'entrega_instalada', host)
      const verified = await hub.svc('evento', 'list', '--verify', '--json')
      assert.equal(verified.status, 0)
      assert.equal((JSON.parse(verified.stdout) as { ok: boolean }).ok, true)
    })
  })

  describe(`short-lived certificates of ${name}`, options, () => {
    test('[AGT-19] [AGT-25] identity and delivered certificate are renewed before they end', async () => {
      await using ca = await startCa({ certDuration: '20s' })
      await using hub = await startHub(ca)
      await using host = await enrolHost(hub, 'brief')
      host.run()
      await createCargo(hub, 'site', host)
      await waitForEvent(hub, 'entrega_instalada', host)
      const crt = join(host.dataDir, 'out/site.crt')
      const first = await serialOf(crt)

      const identity = await waitForEvent(
        hub,
        'cert_renewed',
        host,
        ({ payload }) => payload['carga_nome'] === undefined,
      )
      assert.equal(identity.payload['trigger'], 'auto_threshold')
      const delivered = await waitForEvent(
        hub,
        'cert_renewed',
        host,
        ({ payload }) => payload['carga_nome'] === 'site',
      )
      assert.equal(delivered.payload['old_serial'], first)
      assert.equal(delivered.payload['new_serial'], await serialOf(crt))
      await assertMatchingPair(crt, join(host.dataDir, 'out/site.key'), ca.rootPath)
      await waitUntil('the hook to run for the renewal', async () =>
        (await host.hookLines()).some((line) => line.startsWith('renewed site')) ? true : undefined,
      )
    })
  })
}

function startHub(ca: RunningCa): Promise<HubProcess> {
  return startHubProcess({
    caEnvironment: ca.environment,
    environment: { SVC_SERVER_CN: 'localhost' },
  })
}

/** The id of the one entrega. */
async function createCargo(hub: HubProcess, nome: string, host: ManagedHost): Promise<string> {
  const { entregas } = await hub.admin<{ entregas: { id: string }[] }>('POST', '/v1/admin/cargas', {
    tipo: 'csr_cert',
    nome,
    agentes: [host.hostname],
    roles: [],
    sans: [],
  })
  return entregas[0]?.id ?? ''
}

function showAgent(hub: HubProcess, host: ManagedHost): Promise<{ cert_serial: string }> {
  return hub.admin('POST', '/v1/admin/agentes/show', { agente: host.hostname })
}

/** By OpenSSL, which had no part in making them. */
async function assertMatchingPair(crt: string, key: string, rootPath: string): Promise<void> {
  const ofCertificate = await runTool('openssl', ['x509', '-in', crt, '-noout', '-pubkey'])
  const ofKey = await runTool('openssl', ['pkey', '-in', key, '-pubout'])
  assert.equal(ofCertificate, ofKey)
  const verified = await runTool('openssl', ['verify', '-CAfile', rootPath, '-untrusted', crt, crt])
  assert.match(verified, /: OK$/m)
}

async function serialOf(crt: string): Promise<string> {
  const text = await runTool('openssl', ['x509', '-in', crt, '-noout', '-serial'])
  return text.trim().replace('serial=', '').toLowerCase()
}

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}
