// A secret on its way from the operator's machine to two hosts, on real processes: sealed, updated, and sealed anew for
// a host that lost everything; and nowhere in between in the clear.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fingerprintOf, generateAgeIdentity, recipientOf } from '../../src/sealing/age-identity.ts'
import { type Outcome, runInShell } from '../cli/run-in-shell.ts'
import { readEvents } from '../support/audit-log.ts'
import { startDevCa } from '../support/dev-ca.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { type RunningProgram, runProgram, waitUntil } from '../support/processes.ts'
import { recordSocket, type RecordingProxy } from '../support/recording-proxy.ts'
import { runBytes } from '../support/run-bytes.ts'
import { AGE, WITH_AGE } from './with-age.ts'

const NOME = 'db-password'

interface Listed {
  readonly id: string
  readonly hostname: string
  readonly versao: number
  readonly status: string
  readonly erro: string | null
}

const started = new AsyncDisposableStack()
const agents: RunningProgram[] = []
const secrets: Buffer[] = []
let hub: TestHub
let proxy: RecordingProxy
let hosts: readonly [ManagedHost, ManagedHost]
let escrowFile: string
let cargaId: string

before(async () => {
  const ca = started.use(await startDevCa())
  hub = started.use(
    await startTestHub({
      caEnvironment: ca.environment,
      environment: { SVC_SERVER_SANS: 'localhost' },
    }),
  )
  proxy = started.use(await recordSocket(join(hub.vaultRoot, 'admin.sock')))
  hosts = [started.use(await enrolHost(hub, 'web-01')), started.use(await enrolHost(hub, 'web-02'))]
  agents.push(...hosts.map((host) => host.run()))
  escrowFile = join(hub.directory, 'escrow.key')
  await writeFile(escrowFile, `# escrow\n${await generateAgeIdentity()}\n`, { mode: 0o600 })
})
after(() => started.disposeAsync())

/** On the operator's machine, where the secret is in a file. */
function svc(command: string): Promise<Outcome> {
  return runInShell(command, {
    ...hub.environment,
    SVC_RECIPIENTS_FILE: join(hub.directory, 'known', 'recipients.json'),
  })
}

async function svcDone(command: string): Promise<string> {
  const { stdout, stderr, exitStatus } = await svc(command)
  assert.deepEqual([stderr, exitStatus], ['', 0], command)
  return stdout
}

async function newSecret(): Promise<string> {
  const secret = Buffer.from(randomBytes(60).toString('hex'))
  secrets.push(secret)
  const path = join(hub.directory, `secret-${secrets.length}`)
  await writeFile(path, secret, { mode: 0o600 })
  return path
}

/** As `svc-agent identity` shows it on the host. */
async function fingerprintOn(host: ManagedHost): Promise<string> {
  const { stdout } = await host.agent('identity')
  const [fingerprint] = /SHA256:\S+/.exec(stdout) ?? []
  return fingerprint ?? assert.fail(`no fingerprint in ${stdout}`)
}

async function waitForStatus(host: ManagedHost, versao: number, status: string): Promise<Listed> {
  return waitUntil(
    `${status} of versao ${versao} on ${host.hostname}`,
    async () => {
      const { entregas } = await hub.admin<{ entregas: Listed[] }>('GET', '/v1/admin/entregas')
      return entregas.find(
        (each) =>
          each.hostname === host.hostname && each.versao === versao && each.status === status,
      )
    },
    90_000,
  )
}

async function assertDelivered(host: ManagedHost, secret: Buffer | undefined): Promise<void> {
  const path = join(host.dataDir, 'out', NOME)
  assert.deepEqual(await readFile(path), secret)
  assert.equal(((await stat(await realpath(path))).mode & 0o777).toString(8), '600')
}

describe('a sealed file', WITH_AGE, () => {
  test('[SEA-3] [SEA-4] is sealed for nobody before the operator has compared fingerprints', async () => {
    const file = await newSecret()
    const escrow = await recipientOf((await readFile(escrowFile, 'utf8')).split('\n')[1] ?? '')
    const create = `svc carga create --tipo selado --nome ${NOME} --file ${file} --role web --escrow ${escrow} --json`
    const [one, other] = [await fingerprintOn(hosts[0]), await fingerprintOn(hosts[1])]
    const refused = await svc(create)
    assert.equal(refused.exitStatus, 1)
    assert.ok(refused.stderr.includes(`the recipient of web-01 is new here: ${one}`))
    assert.ok(refused.stderr.includes(`the recipient of web-02 is new here: ${other}`))
    assert.deepEqual((await readEvents(hub, 'carga_created')).length, 0)

    const words = `--accept-recipient ${one} --accept-recipient ${other}`
    const made = JSON.parse(await svcDone(`${create} ${words}`)) as {
      readonly carga_id: string
      readonly destinatarios: readonly { readonly fingerprint: string }[]
      readonly escrow: readonly string[]
    }
    cargaId = made.carga_id
    assert.deepEqual(
      made.destinatarios.map(({ fingerprint }) => fingerprint).sort(),
      [one, other].sort(),
    )
    assert.deepEqual(made.escrow, [fingerprintOf(escrow)])
  })

  test('[SEA-1] is opened by both hosts, and by the public age with the key of each and of the escrow', async () => {
    for (const host of hosts) {
      await waitForStatus(host, 1, 'entregue')
      await assertDelivered(host, secrets[0])
    }
    const { conteudo } = await hub.admin<{ conteudo: string }>(
      'POST',
      '/v1/admin/cargas/conteudo',
      {
        carga: cargaId,
      },
    )
    const file = Buffer.from(conteudo, 'base64')
    const keys = [...hosts.map((host) => join(host.dataDir, 'identity/age.key')), escrowFile]
    for (const key of keys) {
      assert.deepEqual(await runBytes(AGE.age, ['-d', '-i', key], file), secrets[0], key)
    }
  })

  test('[SEA-9] gets another content, without a word about recipients that are known', async () => {
    const file = await newSecret()
    await svcDone(`svc carga update ${cargaId} --file - < ${file}`)
    for (const host of hosts) {
      await waitForStatus(host, 2, 'entregue')
      await assertDelivered(host, secrets[1])
    }
  })

  test('[SEA-4] [SEA-9] is sealed anew by the escrow for a host that lost its data directory', async () => {
    const [, lost] = hosts
    const earlier = await fingerprintOn(lost)
    agents[1]?.kill('SIGKILL')
    await agents[1]?.ended
    await rm(lost.dataDir, { recursive: true, force: true })
    const token = await hub.createToken({ hostname: lost.hostname, reenroll: true })
    const enrolled = await runProgram('svc-agent', ['enroll'], {
      ...lost.environment,
      SVC_ENROLL_TOKEN: token,
    })
    assert.equal(enrolled.status, 0, enrolled.stderr)
    agents.push(lost.run())
    const failed = await waitForStatus(lost, 2, 'falhou')
    assert.match(failed.erro ?? '', /no identity matched/)
    await assert.rejects(stat(join(lost.dataDir, 'out', NOME)), { code: 'ENOENT' })

    const reseal = `svc carga reseal ${cargaId} --escrow-identity ${escrowFile}`
    const now = await fingerprintOn(lost)
    const refused = await svc(reseal)
    assert.ok(
      refused.stderr.includes(`web-02 has changed: ${now}, it was ${earlier}`),
      refused.stderr,
    )
    await svcDone(`${reseal} --accept-recipient ${now}`)
    for (const host of hosts) {
      await waitForStatus(host, 3, 'entregue')
      await assertDelivered(host, secrets[1])
    }
    const changes = (await readEvents(hub, 'recipient_changed')).map(({ payload }) => payload)
    const { from, to, hostname } = changes.at(-1) ?? {}
    assert.deepEqual({ from, to, hostname }, { from: earlier, to: now, hostname: 'web-02' })
  })

  test('[SEA-2] was nowhere in the clear: not on the socket, in the vault, in the logs, beside out/', async () => {
    // Files of an agent that runs come and go, also between their being listed and read.
    for (const agent of agents) agent.kill('SIGTERM')
    await Promise.all(agents.map(({ ended }) => ended))
    const places: [string, Buffer][] = [
      ['the admin socket', proxy.recorded()],
      ['the hub’s log', Buffer.from(hub.logText())],
      ['the audit log', Buffer.from(JSON.stringify(await readEvents(hub)))],
      ...agents.map((agent): [string, Buffer] => ['an agent’s log', Buffer.from(agent.stderr())]),
      ...(await readAll(hub.vaultRoot)),
      ...(await readAll(join(hub.directory, 'known'))),
    ]
    for (const host of hosts) {
      const files = await readAll(host.dataDir)
      places.push(...files.filter(([path]) => !path.startsWith(join(host.dataDir, 'out/'))))
    }
    const [identity = ''] = /AGE-SECRET-KEY-PQ-1\w+/.exec(await readFile(escrowFile, 'utf8')) ?? []
    const hidden = [...secrets, Buffer.from(identity)].flatMap(waysToWrite)
    assert.ok(places.some(([path]) => path.endsWith('db.enc')))
    assert.ok(proxy.recorded().includes('"conteudo"'))
    const isIn = (content: Buffer): boolean => hidden.some((text) => content.includes(text))
    for (const [place, content] of places) assert.ok(!isIn(content), place)
    // The search does find it, where it has to be.
    const delivered = await readAll(join(hosts[0].dataDir, 'out'))
    assert.ok(delivered.some(([, content]) => isIn(content)))
  })
})

/** As it is, and in hex; in base64 it looks different at each of three offsets. */
function waysToWrite(secret: Buffer): Buffer[] {
  const shifted = [0, 1, 2].map((offset) => {
    const whole = secret.subarray(offset, offset + 3 * Math.floor((secret.length - offset) / 3))
    return whole.toString('base64')
  })
  return [secret, Buffer.from(secret.toString('hex')), ...shifted.map((text) => Buffer.from(text))]
}

async function readAll(directory: string): Promise<[string, Buffer][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(
    files.map(async (entry): Promise<[string, Buffer]> => {
      const path = join(entry.parentPath, entry.name)
      return [path, await readFile(path)]
    }),
  )
}
