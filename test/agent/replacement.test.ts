// The hub makes a fresh entrega in the place of an old one: by update, by retry, or because its host enrolled again.

import assert from 'node:assert/strict'
import { rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, manifestEntry } from '../support/agent-host.ts'
import type { ManifestEntryBody } from '../../src/protocol/schemas.ts'
import { pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { formatStatus } from '../../src/agent/reporting/format-status.ts'
import { readStatus } from '../../src/agent/reporting/status.ts'

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  readonly state: PollState
  readonly old: ManifestEntryBody
}

/** `old` is installed, its hook has run. */
async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  // Longer than what is delivered, so that only that is renewed here.
  await host.enroll(100 * 3_600_000)
  const state = await host.openAgent()
  const old = manifestEntry()
  hub.entregas = [old]
  await pollOnce(state)
  return { hub, host, state, old, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const NOT_FOUND = { kind: 'refuse', status: 404, code: 'entrega_not_found' } as const

describe('a fresh entrega for a file that is installed already', () => {
  const cases: [title: string, fields: (old: ManifestEntryBody) => Partial<ManifestEntryBody>][] = [
    ['of the same version, by retry or re-enrolment', ({ carga_id }) => ({ carga_id })],
    ['of the next version, by update', ({ carga_id }) => ({ carga_id, versao: 2 })],
    ['of another carga with the same name', () => ({})],
  ]
  for (const [title, fields] of cases) {
    test(`${title} takes its place, and the record of the old one ends`, async () => {
      await using fixture = await setUp()
      const { hub, host, state, old } = fixture
      const before = await host.readOut('site.crt')
      const successor = manifestEntry(fields(old))
      hub.entregas = [successor]
      assert.deepEqual((await pollOnce(state)).problems, [])
      assert.notEqual(await host.readOut('site.crt'), before)
      await pollOnce(state)
      assert.deepEqual(
        state.processed.list().map(({ deliveryId, progress }) => [deliveryId, progress]),
        [[successor.id, 'done']],
      )
      assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
      assert.equal(hub.requestsTo('issue').length, 2)
      assert.deepEqual(
        host.hooks.invocations.map(({ event, deliveryId }) => [event, deliveryId]),
        [
          ['installed', old.id],
          ['installed', successor.id],
        ],
      )
    })
  }

  test('that cannot be installed yet leaves the old one in place', async () => {
    await using fixture = await setUp()
    const { hub, host, state, old } = fixture
    const before = await host.readOut('site.crt')
    hub.entregas = [manifestEntry({ carga_id: old.carga_id, versao: 2 })]
    hub.misbehave('issue', { kind: 'refuse', status: 502, code: 'ca_failed' })
    await pollOnce(state)
    assert.equal(await host.readOut('site.crt'), before)
    assert.deepEqual(
      state.processed.list().map(({ deliveryId }) => deliveryId),
      [old.id],
    )
  })

  test('that can never be installed leaves the old one to be renewed', async () => {
    await using fixture = await setUp()
    const { hub, host, state, old } = fixture
    hub.entregas = [manifestEntry({ carga_id: old.carga_id, versao: 2 })]
    hub.misbehave('issue', { kind: 'refuse', status: 403, code: 'csr_cn_mismatch' })
    await pollOnce(state)
    host.clock.offsetMs = 20 * 3_600_000
    hub.clockOffsetMs = 20 * 3_600_000
    await pollOnce(state)
    const bodies = hub.requestsTo('issue').map(({ body }) => body as { entrega_id?: string })
    assert.equal(bodies.at(-1)?.entrega_id, old.id)
  })

  test('ends the event of the old one without a warning', async () => {
    await using fixture = await setUp()
    const { hub, host, state } = fixture
    await state.session.outbox.enqueue({ type: 'entrega_instalada', payload: {} })
    hub.misbehave('events', NOT_FOUND)
    await pollOnce(state)
    assert.deepEqual(state.session.outbox.listWaiting(), [])
    const line = host.log.find((text) => text.includes('Event set aside'))
    assert.equal((JSON.parse(line ?? '') as { level: string }).level, 'info')
  })
})

test('a cancelled delivery stays on disk, is renewed no more, and status says so', async () => {
  await using fixture = await setUp()
  const { hub, host, state } = fixture
  const before = await host.readOut('site.crt')
  host.clock.offsetMs = 20 * 3_600_000
  hub.clockOffsetMs = 20 * 3_600_000
  hub.misbehave('issue', NOT_FOUND)
  await pollOnce(state)
  host.clock.offsetMs = 25 * 3_600_000
  hub.clockOffsetMs = 25 * 3_600_000
  const asked = hub.requestsTo('issue').length
  await pollOnce(state)
  assert.equal(await host.readOut('site.crt'), before)
  const delivered = hub.requestsTo('issue').slice(asked)
  assert.deepEqual(
    delivered.filter(({ body }) => (body as { entrega_id?: string }).entrega_id),
    [],
  )
  const { processed, session } = state
  const status = await readStatus(host.paths, {
    processed,
    outbox: session.outbox,
    now: session.hubTime.now(),
    verdict: undefined,
    running: undefined,
  })
  assert.equal(status.deliveries[0]?.cancelled, true)
  assert.match(formatStatus('en', status), /delivery site v1: cancelled, no longer renewed, serial/)
})

describe('a link in out/ that somebody removed', () => {
  for (const name of ['site.crt', 'site.key']) {
    test(`is put back in the next round: ${name}`, async () => {
      await using fixture = await setUp()
      const { hub, host, state } = fixture
      const before = await host.readOut(name)
      await unlink(join(host.paths.outDir, name))
      assert.deepEqual((await pollOnce(state)).problems, [])
      assert.equal(await host.readOut(name), before)
      assert.equal(hub.requestsTo('issue').length, 1)
    })
  }

  test('and replaced by a file of their own is left to them, and named', async () => {
    await using fixture = await setUp()
    const { host, state } = fixture
    const path = join(host.paths.outDir, 'site.crt')
    await rename(path, `${path}.away`)
    await writeFile(path, 'precious')
    assert.deepEqual((await pollOnce(state)).problems, [
      `${path} exists and was not made by the agent`,
    ])
    assert.equal(await host.readOut('site.crt'), 'precious')
  })
})
