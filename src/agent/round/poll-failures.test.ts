// What a round does when a delivery cannot be installed, or not yet.

import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { FakeHub } from '../../../test/fakes/hub-server.ts'
import { type AgentHost, manifestEntry } from '../../../test/support/agent-host.ts'
import { startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { assertMatchingPair } from '../../../test/support/matching-pair.ts'
import { pollOnce } from './poll.ts'

describe('what cannot succeed becomes entrega_falhou', () => {
  const cases: [
    why: string,
    prepare: (hub: FakeHub, host: AgentHost) => Promise<void> | void,
    erro: RegExp,
  ][] = [
    [
      'a name that leaves the directory',
      (hub) => void (hub.entregas = [manifestEntry({ nome: '../x' })]),
      /cannot be a file name/,
    ],
    [
      'a refusal with 403',
      (hub) => {
        hub.entregas = [manifestEntry()]
        hub.misbehave('issue', { kind: 'refuse', status: 403, code: 'csr_cn_mismatch' })
      },
      /403 csr_cn_mismatch/,
    ],
    [
      'a file that is in the way',
      async (hub, host) => {
        hub.entregas = [manifestEntry()]
        await writeFile(join(host.paths.outDir, 'site.crt'), 'precious')
      },
      /was not made by the agent/,
    ],
  ]
  for (const [why, prepare, erro] of cases) {
    test(`[AGT-27] [EVT-18] ${why}`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      await prepare(hub, host)
      const good = manifestEntry({ nome: 'good' })
      hub.entregas.push(good)
      await pollOnce(await host.openAgent())
      const failed = hub.events.filter(({ tipo_evento: type }) => type === 'entrega_falhou')
      assert.equal(failed.length, 1)
      const [report] = failed.map(({ payload }) => payload as { erro: string })
      assert.match(report?.erro ?? '', erro)
      assertMatchingPair(await host.readOut('good.crt'), await host.readOut('good.key'))
    })
  }

  test('[AGT-39] [DEL-13] two deliveries that differ by case only: the second one fails, the first is kept', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const [first, second] = [manifestEntry({ nome: 'site' }), manifestEntry({ nome: 'Site' })]
    hub.entregas = [first, second]
    const state = await host.openAgent()
    await pollOnce(state)
    assert.deepEqual(
      hub.events
        .filter(({ tipo_evento: type }) => type === 'entrega_falhou')
        .map(({ entrega_id: id }) => id),
      [second.id],
    )
    hub.entregas = [first, manifestEntry({ nome: 'SITE' })]
    await pollOnce(state)
    assert.equal(hub.eventTypes().filter((type) => type === 'entrega_falhou').length, 2)
  })

  test('[SLD-8] a name whose former delivery was cancelled is free again, and the hub is asked for nothing but the next one', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry()]
    const state = await host.openAgent()
    await pollOnce(state)
    const next = manifestEntry()
    hub.entregas = [next]
    await pollOnce(state)
    await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 2)
    assert.deepEqual(
      state.processed.list().map(({ deliveryId }) => deliveryId),
      [next.id],
    )
    assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
  })
})

describe('what may succeed later is tried again and fails nothing', () => {
  const transient = [
    { kind: 'refuse', status: 502, code: 'ca_failed' },
    { kind: 'refuse', status: 429, code: 'rate_limited', retryAfter: '1' },
    { kind: 'cut-before' },
    { kind: 'cut-after' },
    { kind: 'foreign-key' },
    { kind: 'not-json' },
  ] as const
  for (const misbehaviour of transient) {
    test(`[AGT-26] certs/issue: ${JSON.stringify(misbehaviour)}`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      hub.entregas = [manifestEntry()]
      hub.misbehave('issue', misbehaviour)
      const state = await host.openAgent()
      const result = await pollOnce(state)
      assert.notDeepEqual(result.problems, [])
      assert.deepEqual(
        await readdir(host.paths.outDir).then((names) =>
          names.filter((name) => name.endsWith('.crt')),
        ),
        [],
      )
      host.clock.offsetMs += 10_000
      assert.deepEqual((await pollOnce(state)).problems, [])
      assertMatchingPair(await host.readOut('site.crt'), await host.readOut('site.key'))
      assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
    })
  }

  test('[AGT-27] one delivery that is always cut off does not hold up the others', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry({ nome: 'bad' }), manifestEntry({ nome: 'good' })]
    hub.misbehave('issue', { kind: 'cut-before' })
    await pollOnce(await host.openAgent())
    assertMatchingPair(await host.readOut('good.crt'), await host.readOut('good.key'))
  })

  for (const tipo of ['PUSH', 'novidade']) {
    test(`[AGT-21] [DEL-3] a delivery of tipo ${tipo} is warned about once and not recorded`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      hub.entregas = [manifestEntry({ tipo }), manifestEntry({ nome: 'good' })]
      const state = await host.openAgent()
      await pollOnce(state)
      await pollOnce(state)
      assert.equal(host.log.filter((line) => line.includes('unknown kind')).length, 1)
      assert.deepEqual(
        state.processed.list().map(({ name }) => name),
        ['good'],
      )
      assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
    })
  }

  test('[HOK-6] [EVT-20] a failing hook is retried alone, and the same failure is reported once', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry()]
    host.hooks.failures = [
      { hook: 'post-csr-cert', reason: 'exit status 3', exitCode: 3, durationMs: 5 },
    ]
    const state = await host.openAgent()
    for (let round = 0; round < 3; round += 1) {
      await pollOnce(state)
      host.clock.offsetMs += 400_000
    }
    assert.equal(host.hooks.invocations.length, 3)
    assert.equal(hub.eventTypes().filter((type) => type === 'hook_falhou').length, 1)
    host.hooks.failures = []
    await pollOnce(state)
    await pollOnce(state)
    assert.equal(host.hooks.invocations.length, 4)
    assert.equal(hub.requestsTo('issue').length, 1)
  })
})
