// What a round finds on disk, and leaves there: changes by others, crashes, and what must not be touched.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type RecordedRequest } from '../../../test/fakes/hub-server.ts'
import { type AgentHost, manifestEntry } from '../../../test/support/agent-host.ts'
import { startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { parseCertificatePem } from '../../pki/certificates.ts'
import { loadIdentity } from '../identity/identity.ts'
import { pollOnce } from './poll.ts'

const identitySerialOf = async (host: AgentHost): Promise<string | undefined> =>
  (await loadIdentity(host.paths.identityDir))?.leaf.serial

describe('the identity on disk', () => {
  test('[AGT-29] is read again before each poll: one put there by others is used', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const state = await host.openAgent()
    await pollOnce(state)
    const first = await identitySerialOf(host)
    assert.equal(hub.requests.at(-1)?.serial, first)
    await host.enroll()
    await pollOnce(state)
    const second = await identitySerialOf(host)
    assert.notEqual(second, first)
    assert.equal(hub.requests.at(-1)?.serial, second)
  })

  test('[AGT-37] is the new one before the hub sees the new one for the first time', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    await host.enroll(3_600_000)
    host.clock.offsetMs = 3_000_000
    hub.clockOffsetMs = 3_000_000
    // Valid by real time as well, by which the fake hub's TLS goes.
    hub.backdateMs = 3_060_000
    const certificatePath = join(host.paths.identityDir, 'agent.crt')
    const seen: [used: string | undefined, onDisk: string][] = []
    const record = hub.requests.push.bind(hub.requests)
    hub.requests.push = (...requests: RecordedRequest[]) => {
      const onDisk = parseCertificatePem(readFileSync(certificatePath, 'utf8')).serial
      for (const { serial } of requests) seen.push([serial, onDisk])
      return record(...requests)
    }
    await pollOnce(await host.openAgent())
    assert.equal(new Set(seen.map(([used]) => used)).size, 2)
    for (const [used, onDisk] of seen) assert.equal(used, onDisk)
  })

  test('[AGT-35] stays when the new certificate has expired already', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const before = await identitySerialOf(host)
    Object.assign(hub, { lifetimeMs: 1000, backdateMs: 7_200_000 })
    host.clock.offsetMs = 86_300_000
    hub.clockOffsetMs = 86_300_000
    const { problems } = await pollOnce(await host.openAgent())
    assert.match(problems.join(' '), /an unusable certificate: .* is expired/)
    assert.equal(await identitySerialOf(host), before)
  })
})

describe('a delivered pair on disk', () => {
  test('[AGT-35] is reached through one relative link, as the identity is', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    hub.entregas = [manifestEntry()]
    await pollOnce(await host.openAgent())
    const { outDir, identityDir } = host.paths
    const links = await Promise.all(
      [
        join(outDir, 'site.crt'),
        join(outDir, 'site.key'),
        join(outDir, '.versions/site/current'),
        join(identityDir, 'agent.crt'),
        join(identityDir, 'agent.key'),
        join(identityDir, '.versions/current'),
      ].map((path) => readlink(path)),
    )
    assert.deepEqual(links, [
      '.versions/site/current/cert.pem',
      '.versions/site/current/key.pem',
      '000001',
      '.versions/current/agent.crt',
      '.versions/current/agent.key',
      '000001',
    ])
  })

  test('[AGT-38] is not rewritten while nothing changes', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    hub.settlesDeliveries = false
    hub.entregas = [manifestEntry()]
    await pollOnce(await host.openAgent())
    const stamp = async (): Promise<unknown[]> =>
      Promise.all(
        ['site.crt', 'site.key'].map(async (name) => {
          const { ino, mtimeMs, ctimeMs } = await stat(join(host.paths.outDir, name))
          return { ino, mtimeMs, ctimeMs }
        }),
      )
    const before = await stamp()
    const state = await host.openAgent()
    await pollOnce(state)
    await pollOnce(state)
    assert.deepEqual(await stamp(), before)
  })

  test('[AGT-25] [EVT-16] that is gone is made anew, with the trigger delivery', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const entry = manifestEntry()
    hub.entregas = [entry]
    const state = await host.openAgent()
    await pollOnce(state)
    const oldSerial = parseCertificatePem(await host.readOut('site.crt')).serial
    await rm(join(host.paths.outDir, '.versions'), { recursive: true })
    await pollOnce(state)
    const newSerial = parseCertificatePem(await host.readOut('site.crt')).serial
    const renewed = hub.events.find(({ tipo_evento: type }) => type === 'cert_renewed')
    assert.equal(renewed?.entrega_id, entry.id)
    assert.deepEqual(renewed?.payload, {
      old_serial: oldSerial,
      new_serial: newSerial,
      trigger: 'delivery',
      carga_nome: 'site',
    })
    assert.deepEqual(
      host.hooks.invocations.map(({ event, environment }) => [event, environment['SVC_SERIAL']]),
      [
        ['installed', oldSerial],
        ['renewed', newSerial],
      ],
    )
  })

  test('[AGT-25] [AGT-31] that somebody damages is noticed, also one that rounds have known for long', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    hub.entregas = [manifestEntry()]
    const state = await host.openAgent()
    host.clock.offsetMs += 60_000
    for (let round = 0; round < 3; round += 1) await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 1)
    await writeFile(join(host.paths.outDir, 'site.key'), 'nonsense')
    host.clock.offsetMs += 60_000
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(hub.requestsTo('issue').length, 2)
    assert.match((await host.readOut('site.key')) ?? '', /BEGIN PRIVATE KEY/)
    await writeFile(join(host.paths.identityDir, 'agent.key'), 'nonsense')
    assert.match((await pollOnce(state)).problems.join(' '), /identity at .* is damaged/)
  })

  test('[AGT-39] is never written through a link out of the versions directory', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const elsewhere = join(host.directory, 'elsewhere')
    await mkdir(elsewhere)
    await symlink(elsewhere, join(host.paths.outDir, '.versions'))
    hub.entregas = [manifestEntry()]
    await pollOnce(await host.openAgent())
    assert.deepEqual(await readdir(elsewhere), [])
    assert.equal(hub.eventTypes().includes('entrega_falhou'), true)
  })

  test('[HOK-5] whose hook was cut off by a crash has its hook run by the next start', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    hub.entregas = [manifestEntry()]
    host.hooks.run = () => Promise.reject(new Error('as if the agent had died'))
    await pollOnce(await host.openAgent())
    assert.match(await readFile(host.paths.processedFile, 'utf8'), /"progress": "event_queued"/)
    Reflect.deleteProperty(host.hooks, 'run')
    const state = await host.openAgent()
    await pollOnce(state)
    await pollOnce(state)
    assert.deepEqual(
      host.hooks.invocations.map(({ event, name }) => [event, name]),
      [['installed', 'site']],
    )
    assert.equal(hub.requestsTo('issue').length, 1)
  })
})
