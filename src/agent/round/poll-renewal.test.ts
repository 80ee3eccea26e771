// What a round renews: delivered certificates, and the identity.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { manifestEntry } from '../../../test/support/agent-host.ts'
import { type EnrolledAgent, startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { assertMatchingPair } from '../../../test/support/matching-pair.ts'
import { loadIdentity } from '../identity/identity.ts'
import { pollOnce } from './poll.ts'

/** For hub and host alike. */
function passTime({ hub, host }: Pick<EnrolledAgent, 'hub' | 'host'>, durationMs: number): void {
  hub.clockOffsetMs += durationMs
  host.clock.offsetMs += durationMs
}

describe('renewal', () => {
  test('[AGT-25] [EVT-16] a delivered certificate near its end is renewed with a new key, reported and told to the hook', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const entry = manifestEntry()
    hub.entregas = [entry]
    hub.lifetimeMs = 3_600_000
    const state = await host.openAgent()
    await pollOnce(state)
    const [oldPem, oldKey] = [await host.readOut('site.crt'), await host.readOut('site.key')]
    passTime(agent, 3_000_000)
    await pollOnce(state)
    const newPem = await host.readOut('site.crt')
    assertMatchingPair(newPem, await host.readOut('site.key'))
    assert.notEqual(await host.readOut('site.key'), oldKey)
    const renewed = hub.events.find(
      ({ tipo_evento: type, entrega_id: id }) => type === 'cert_renewed' && id === entry.id,
    )
    assert.deepEqual(renewed?.payload, {
      old_serial: new X509Certificate(oldPem).serialNumber.toLowerCase(),
      new_serial: new X509Certificate(newPem).serialNumber.toLowerCase(),
      trigger: 'auto_threshold',
      carga_nome: 'site',
    })
    assert.deepEqual(
      host.hooks.invocations.map(({ event }) => event),
      ['installed', 'renewed'],
    )
  })

  test('[AGT-19] a certificate of which half a minute is left when it is issued is renewed once a minute at most', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry()]
    hub.lifetimeMs = 3_600_000
    hub.backdateMs = 3_570_000
    const state = await host.openAgent()
    for (const [waitMs, issued] of [
      [0, 1],
      [25_000, 2],
      [25_000, 2],
      [25_000, 2],
      [15_000, 3],
    ] as const) {
      passTime(agent, waitMs)
      for (let round = 0; round < 3; round += 1) await pollOnce(state)
      assert.equal(hub.requestsTo('issue').length, issued)
    }
  })

  test('[AGT-25] a cancelled delivery keeps its files and is renewed no more', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry()]
    hub.lifetimeMs = 3_600_000
    const state = await host.openAgent()
    await pollOnce(state)
    const before = await host.readOut('site.crt')
    hub.misbehave('issue', { kind: 'refuse', status: 404, code: 'entrega_not_found' })
    for (const waitMs of [3_000_000, 200_000]) {
      passTime(agent, waitMs)
      await pollOnce(state)
    }
    assert.equal(await host.readOut('site.crt'), before)
    assert.equal(hub.requestsTo('issue').length, 2)
  })

  test('[AGT-18] [AGT-19] [EVT-16] the identity is renewed below the threshold and the next request uses it', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await host.enroll(3_600_000)
    const before = await loadIdentity(host.paths.identityDir)
    // Valid by real time as well, by which the fake hub's TLS goes.
    hub.backdateMs = 3_060_000
    passTime(agent, 3_000_000)
    const state = await host.openAgent()
    await pollOnce(state)
    const after = await loadIdentity(host.paths.identityDir)
    assert.notEqual(after?.leaf.serial, before?.leaf.serial)
    assert.equal(hub.requests.at(-1)?.serial, after?.leaf.serial)
    assert.deepEqual(hub.events.find(({ tipo_evento: type }) => type === 'cert_renewed')?.payload, {
      old_serial: before?.leaf.serial,
      new_serial: after?.leaf.serial,
      trigger: 'auto_threshold',
    })
    await pollOnce(await host.openAgent())
    const reports = hub
      .requestsTo('events')
      .filter(({ body }) => (body as { tipo_evento: string }).tipo_evento === 'cert_renewed')
    assert.equal(reports.length, 1)
  })

  test('[AGT-35] a certificate for another key changes nothing', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await host.enroll(3_600_000)
    const before = await loadIdentity(host.paths.identityDir)
    passTime(agent, 3_000_000)
    hub.misbehave('issue', { kind: 'foreign-key' })
    await pollOnce(await host.openAgent())
    assert.equal(hub.requestsTo('issue').length, 1)
    assert.equal((await loadIdentity(host.paths.identityDir))?.leaf.serial, before?.leaf.serial)
  })
})
