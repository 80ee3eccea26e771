// The CA's root replaced under a running fleet, with a real step-ca: docs/protocol.md TRU, docs/operations.md
// "Rotate the CA's root".

import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../support/own-place.ts'
import { parseCertificatePem, parseCertificatesPem } from '../../src/pki/certificates.ts'
import { findRootOf } from '../../src/pki/issued-certificate.ts'
import type { AdminBundle, AdminUpdatedBundle } from '../../src/protocol/admin/views.ts'
import { type AgentFleet, startAgentFleet } from '../support/agent-fleet.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { waitUntil } from '../support/processes.ts'
import { type RotatingStepCa, startRotatingStepCa } from '../support/rotating-step-ca.ts'
import { send } from '../support/wire-client.ts'
import { WITH_STEP_CA } from './with-step-ca.ts'

const PROCESSES = 5
const IN_PROCESS = 45
const FLEET_TIMEOUT_MS = 120_000

describe(
  'the CA’s root, replaced under 50 running agents',
  {
    skip: WITH_STEP_CA.skip || WITH_OWN_PLACE.skip,
  },
  () => {
    const started = new AsyncDisposableStack()
    let directory: string
    let rootFile: string
    let ca: RotatingStepCa
    let hub: TestHub
    let fleet: AgentFleet
    let hosts: ManagedHost[]
    /** Enrolled before, and gone since: it has said nothing of its trust, and will not. */
    let stranger: EnrolledHost
    let oldRoot: string
    let newRoot: string

    before(async () => {
      // Targets are written where nobody else can write.
      directory = await makeOwnDirectory('cartorio-trust-test-')
      started.defer(() => rm(directory, { recursive: true, force: true }))
      ca = started.use(await startRotatingStepCa(join(directory, 'ca')))
      oldRoot = await ca.rootPem()
      rootFile = join(directory, 'roots.pem')
      await writeFile(rootFile, oldRoot)
      hub = started.use(
        await startTestHub({
          caEnvironment: { ...ca.environment, SVC_CA_ROOT_CA_PATH: rootFile },
          environment: { SVC_SERVER_SANS: 'localhost' },
        }),
      )
      hosts = []
      for (let at = 0; at < PROCESSES; at += 1) {
        const variables = {
          SVC_AGENT_POLL_INTERVAL: '1s',
          SVC_AGENT_DATA_DIR: join(directory, `data-${at}`),
        }
        const host = started.use(await enrolHost(hub, `host-${at}`, variables))
        hosts.push(host)
      }
      await writeTarget(hostAt(0))
      for (const host of hosts) host.run()
      const names = Array.from({ length: IN_PROCESS }, (_, at) => `fleet-${at}`)
      fleet = started.use(await startAgentFleet(hub, names))
      await hub.svc('carga', 'create', '--tipo', 'csr_cert', '--nome', 'site', '--agente', 'host-0')
    })
    after(() => started.disposeAsync())

    const hostAt = (at: number): ManagedHost => {
      const host = hosts[at]
      assert.ok(host)
      return host
    }
    const targetCa = (): string => join(directory, 'service/ca.pem')

    async function writeTarget(host: ManagedHost): Promise<void> {
      await mkdir(join(directory, 'service'), { mode: 0o755 })
      await mkdir(join(host.dataDir, 'targets.d'), { mode: 0o755 })
      const text = [
        'nome = "site"',
        '[[file]]',
        `path = "${targetCa()}"`,
        'mode = "0644"',
        'content = ["ca"]',
        '',
      ].join('\n')
      await writeFile(join(host.dataDir, 'targets.d/site.toml'), text, { mode: 0o644 })
    }

    async function status(): Promise<AdminBundle> {
      const { status: exit, stdout, stderr } = await hub.svc('bundle', 'status', '--json')
      assert.equal(exit, 0, stderr)
      return JSON.parse(stdout) as AdminBundle
    }

    async function update(...roots: string[]): Promise<AdminUpdatedBundle> {
      await writeFile(rootFile, roots.join('\n'))
      const { status: exit, stdout, stderr } = await hub.svc('bundle', 'update', '--json')
      assert.equal(exit, 0, stderr)
      return JSON.parse(stdout) as AdminUpdatedBundle
    }

    async function refuseUpdate(...roots: string[]): Promise<string> {
      await writeFile(rootFile, roots.join('\n'))
      const { status: exit, stderr } = await hub.svc('bundle', 'update')
      assert.equal(exit, 1)
      return stderr
    }

    const allAdopt = (numero: number): Promise<AdminBundle> =>
      waitUntil(
        `all to adopt the roots ${numero}`,
        async () => {
          const shown = await status()
          return shown.numero === numero && shown.pendentes.length === 0 ? shown : undefined
        },
        FLEET_TIMEOUT_MS,
      )

    const identitiesOf = async (): Promise<string[]> => {
      const paths = hosts.map(({ dataDir }) => join(dataDir, 'identity/agent.crt'))
      const ofFleet = fleet.agents.map(async (agent) => (await agent.identity()).certificatePem)
      return Promise.all([...paths.map((path) => readFile(path, 'utf8')), ...ofFleet])
    }
    const rootsOfIdentities = async (): Promise<Set<string>> => {
      const roots = [oldRoot, newRoot].map(parseCertificatePem)
      const chains = (await identitiesOf()).map(parseCertificatesPem)
      return new Set(chains.map((chain) => findRootOf(chain, roots)?.sha256 ?? 'none'))
    }
    const anchorsOf = async (): Promise<Set<string>> => {
      const paths = hosts.map(({ dataDir }) => join(dataDir, 'identity/ca.pem'))
      const ofFleet = fleet.agents.map((agent) => agent.caPem())
      const pems = await Promise.all([...paths.map((path) => readFile(path, 'utf8')), ...ofFleet])
      return new Set(pems.map((pem) => fingerprintsOf(pem).join(' ')))
    }

    test('[TRU-1] [TRU-6] every agent says that it trusts the roots that the hub began with', async () => {
      const shown = await allAdopt(1)
      assert.equal(shown.agentes, PROCESSES + IN_PROCESS)
      assert.deepEqual(
        shown.roots.map(({ fingerprint, is_hubs_own: own }) => [fingerprint, own]),
        [[fingerprintsOf(oldRoot)[0], true]],
      )
      await waitUntil('the target', async () => {
        return (await readFile(targetCa(), 'utf8').catch(() => '')) === '' ? undefined : true
      })
    })

    test('[TRU-10] the old root does not go while all agents need it', async () => {
      newRoot = await ca.makeNextRoot()
      stranger = await enrollHost(hub, 'stranger')
      const refusal = await refuseUpdate(newRoot)
      assert.match(refusal, /: 51 agents need a root that this would remove: fleet-0 \(trusts none/)
      assert.match(refusal, /hint: .*--force/)
      assert.equal((await status()).numero, 1)
    })

    test('[TRU-2] [TRU-7] with both roots in the file every agent comes to trust both', async () => {
      const updated = await update(oldRoot, newRoot)
      assert.deepEqual([updated.is_changed, updated.numero, updated.endangered], [true, 2, []])
      await hub.svc('agente', 'revoke', stranger.hostname)
      await allAdopt(2)
      const both = fingerprintsOf(oldRoot + newRoot).join(' ')
      assert.deepEqual(await anchorsOf(), new Set([both]))
      await waitUntil('the target to have both roots', async () => {
        const found = fingerprintsOf(await readFile(targetCa(), 'utf8')).join(' ')
        return found === both ? true : undefined
      })
    })

    test('[TRU-4] agents renew under the new root, and those of either are served', async () => {
      await ca.switchRoot()
      const [first, ...others] = fleet.agents
      await first?.rotate()
      assert.equal((await rootsOfIdentities()).size, 2)
      assert.deepEqual((await first?.poll())?.problems, [])
      assert.deepEqual((await others[0]?.poll())?.problems, [])

      const refusal = await refuseUpdate(newRoot)
      assert.match(refusal, /49 agents need a root that this would remove/)
      assert.doesNotMatch(refusal, /fleet-0 /)
      for (const agent of others) await agent.rotate()
      for (const host of hosts) assert.equal((await host.agent('rotate')).status, 0)
      assert.deepEqual(await rootsOfIdentities(), new Set(fingerprintsOf(newRoot)))

      assert.match(await refuseUpdate(newRoot), /1 agent needs .*: host-0 \(site [0-9a-f]+\)/)
      const { cargas } = JSON.parse((await hub.svc('carga', 'list', '--json')).stdout) as {
        cargas: { id: string }[]
      }
      await hub.svc('carga', 'update', String(cargas[0]?.id))
      await waitUntil('the delivery under the new root', async () => {
        const { roots } = await status()
        return roots[0]?.certificados === 0 ? true : undefined
      })
    })

    test('[TRU-8] [TRU-11] with the old root gone no agent is lost', async () => {
      const updated = await update(newRoot)
      assert.deepEqual([updated.numero, updated.endangered], [3, []])
      assert.deepEqual(
        updated.roots.map(({ fingerprint, is_hubs_own: own }) => [fingerprint, own]),
        [[fingerprintsOf(newRoot)[0], true]],
      )
      await allAdopt(3)
      assert.deepEqual(await anchorsOf(), new Set(fingerprintsOf(newRoot)))
      for (const agent of fleet.agents) {
        assert.deepEqual((await agent.poll()).problems, [], agent.hostname)
      }
      for (const host of hosts) {
        const polled = await host.agent('poll')
        assert.equal(polled.status, 0, `${host.hostname}: ${polled.stderr}`)
      }
      await waitUntil('the target to have the new root alone', async () => {
        const found = fingerprintsOf(await readFile(targetCa(), 'utf8'))
        return found.join() === fingerprintsOf(newRoot).join() ? true : undefined
      })
    })

    test('[TRU-4] an identity of the root that went is not let in any more', async () => {
      await assert.rejects(send({ ...stranger.mtls }, { path: '/v1/manifest' }))
    })

    test('[TRU-1] a hub that starts again has the same set, and all of it is in the log', async () => {
      const { enroll, mtls } = hub.ports
      await hub.stop()
      await hub.start({
        SVC_ENROLL_BIND: `127.0.0.1:${enroll}`,
        SVC_MTLS_BIND: `127.0.0.1:${mtls}`,
      })
      assert.equal((await status()).numero, 3)
      const { stdout } = await hub.svc('evento', 'list', '--verify', '--json')
      const log = JSON.parse(stdout) as {
        ok: boolean
        eventos: { tipo_evento: string; agente_id: string; payload: { numero: number } }[]
      }
      assert.equal(log.ok, true)
      const changes = log.eventos.filter(({ tipo_evento: type }) => type === 'bundle_changed')
      assert.deepEqual(
        changes.map(({ payload }) => payload.numero),
        [2, 3],
      )
      for (const numero of [1, 2, 3]) {
        const adopted = log.eventos.filter(
          ({ tipo_evento: type, payload }) =>
            type === 'bundle_adopted' && payload.numero === numero,
        )
        assert.equal(adopted.length, PROCESSES + IN_PROCESS, `reports of set ${numero}`)
      }
      assert.ok(!log.eventos.some(({ tipo_evento: type }) => type === 'bundle_refused'))
    })
  },
)

function fingerprintsOf(pem: string): string[] {
  return parseCertificatesPem(pem).map(({ sha256 }) => sha256)
}
