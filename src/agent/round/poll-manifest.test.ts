// What a round makes of the manifest, and what it tells the hub about it.

import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { type FakeHub } from '../../../test/fakes/hub-server.ts'
import { manifestEntry } from '../../../test/support/agent-host.ts'
import { startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { pollOnce } from './poll.ts'

const countsReported = (hub: FakeHub): unknown[] =>
  hub.events
    .filter(({ tipo_evento: type }) => type === 'manifest_pulled')
    .map(({ payload }) => payload)

describe('the manifest of a round', () => {
  test('[EVT-19] is reported when the number of entregas changed, and once an hour', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const state = await host.openAgent()
    await pollOnce(state)
    await pollOnce(state)
    assert.deepEqual(countsReported(hub), [{ count: 0 }])
    hub.entregas = [manifestEntry({ tipo: 'selado' })]
    await pollOnce(state)
    await pollOnce(state)
    assert.deepEqual(countsReported(hub), [{ count: 0 }, { count: 1 }])
    host.clock.offsetMs += 3_600_000
    await pollOnce(state)
    assert.deepEqual(countsReported(hub), [{ count: 0 }, { count: 1 }, { count: 1 }])
  })

  test('[EVT-19] holds up no delivery when its report cannot be written down, and is reported when it can', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const state = await host.openAgent()
    const { outboxDir } = host.paths
    hub.entregas = [manifestEntry()]
    await rename(outboxDir, `${outboxDir}.away`)
    assert.match((await pollOnce(state)).problems.join(' '), /ENOENT/)
    assert.match(await host.readOut('site.crt'), /BEGIN CERTIFICATE/)
    await rename(`${outboxDir}.away`, outboxDir)
    host.clock.offsetMs += 61_000
    await pollOnce(state)
    assert.deepEqual(countsReported(hub), [{ count: 1 }])
    assert.ok(hub.eventTypes().includes('entrega_instalada'))
  })

  test('[LIM-15] is read up to 1,000 entregas; the rest is left out and logged', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    hub.entregas = Array.from({ length: 1001 }, () => manifestEntry({ tipo: 'selado' }))
    const { problems } = await pollOnce(await host.openAgent())
    assert.deepEqual(problems, [])
    assert.deepEqual(countsReported(hub), [{ count: 1000 }])
    const warning = host.log.find((line) => line.includes('Unreadable manifest entries'))
    assert.equal((JSON.parse(warning ?? '{}') as { count?: number }).count, 1)
  })

  test('[AGT-27] lists a failed delivery again as pendente, and it starts again', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const entry = manifestEntry()
    hub.entregas = [entry]
    hub.misbehave('issue', { kind: 'refuse', status: 400, code: 'csr_invalid' })
    const state = await host.openAgent()
    await pollOnce(state)
    assert.deepEqual(hub.events.at(-1)?.payload, { erro: 'the hub answered 400 csr_invalid' })
    assert.equal(hub.events.at(-1)?.entrega_id, entry.id)
    await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 1)
    hub.entregas = [entry]
    host.clock.offsetMs += 61_000
    await pollOnce(state)
    assert.equal(hub.events.at(-1)?.tipo_evento, 'entrega_instalada')
    assert.match(await host.readOut('site.crt'), /BEGIN CERTIFICATE/)
  })

  for (const [offsetMs, isWarnedAbout] of [
    [25_000, false],
    [-25_000, false],
    [35_000, true],
    [-35_000, true],
  ] as const) {
    const verdict = isWarnedAbout ? 'is warned about, once' : 'is fine'
    test(`[AGT-30] came with a Date, and a skew of ${offsetMs / 1000} s ${verdict}`, async () => {
      await using fixture = await startEnrolledAgent()
      const { host } = fixture
      const state = await host.openAgent()
      host.clock.offsetMs = offsetMs
      await pollOnce(state)
      await pollOnce(state)
      const warnings = host.log.filter((line) => line.includes('Clock differs from the hub’s'))
      assert.equal(warnings.length, isWarnedAbout ? 1 : 0)
    })
  }
})
