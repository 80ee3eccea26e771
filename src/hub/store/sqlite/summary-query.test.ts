// The counts that triggers keep for `summarizeFleet`, through what may become of a host and of a carga.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  insertToken,
  LATER,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AgentTrust } from '../../domain/root-set.ts'

const ONE = 'a'.repeat(64)
const TWO = 'b'.repeat(64)

describe('[OVW-7] what agents say of the roots that they trust', () => {
  test('is counted for those that are neither revoked nor removed, whatever becomes of them', async () => {
    await using store = await openTemporaryStore()
    const agents = []
    for (const name of ['web-1', 'web-2', 'web-3']) agents.push(await insertAgent(store, name))
    const [first, second, third] = agents
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const say = (agent: typeof first, said: Partial<AgentTrust>): Promise<void> =>
      store.write((writer) =>
        writer.setAgentTrust({
          agentId: agent.id,
          number: 1,
          fingerprints: [ONE],
          pinned: null,
          error: null,
          reportedAt: NOW,
          ...said,
        }),
      )
    const counts = async (): Promise<unknown[]> =>
      (await store.reader.summary.listTrustCounts(9)).map(({ fingerprints, pinned, count }) => [
        fingerprints.length,
        pinned?.length ?? null,
        count,
      ])
    for (const agent of agents) await say(agent, {})
    assert.deepEqual(await counts(), [[1, null, 3]])
    await say(second, { fingerprints: [ONE, TWO] })
    await say(second, { fingerprints: [ONE, TWO], error: 'why' })
    assert.deepEqual((await counts()).toSorted(), [
      [1, null, 2],
      [2, null, 1],
    ])
    await say(second, { pinned: [ONE] })
    const revoke = (at: Date | null) =>
      store.write((writer) => writer.updateAgent({ ...first, revokedAt: at }))
    await revoke(NOW)
    await say(first, { fingerprints: [TWO] })
    assert.deepEqual((await counts()).toSorted(), [
      [1, null, 1],
      [1, 1, 1],
    ])
    await revoke(null)
    await store.write((writer) => writer.updateAgent({ ...second, removedAt: NOW }))
    await store.write((writer) => writer.removeAgentTrust(third.id))
    assert.deepEqual(await counts(), [[1, null, 1]])
    assert.deepEqual((await store.reader.summary.listTrustCounts(9))[0]?.fingerprints, [TWO])
  })
})

test('[OVW-1] cargas that are removed are not counted, nor tokens that were used or have ended', async () => {
  await using store = await openTemporaryStore()
  const { summary } = store.reader
  assert.deepEqual([await summary.countCargoes(), await summary.countOpenTokens(NOW, 9)], [0, 0])
  const cargo = await insertCargo(store, 'site')
  await insertCargo(store, 'mail')
  await store.write((writer) => writer.updateCargo({ ...cargo, removedAt: NOW }))
  await store.write((writer) => writer.updateCargo({ ...cargo, removedAt: LATER, version: 2 }))
  for (const changes of [{}, {}, { consumedAt: NOW }, { endedAt: NOW }, { expiresAt: NOW }]) {
    await insertToken(store, changes)
  }
  assert.equal(await summary.countCargoes(), 1)
  assert.equal(await summary.countOpenTokens(NOW, 9), 2)
  assert.equal(await summary.countOpenTokens(NOW, 1), 1)
})

test('[OVW-6] failures are grouped by the beginning of what their hosts said, without what is to be replaced', async () => {
  await using store = await openTemporaryStore()
  const cargo = await insertCargo(store, 'site')
  const long = 'x'.repeat(250)
  for (const [name, error] of [
    ['web-1', `${long}1`],
    ['web-2', `${long}2`],
    ['web-3', 'disk full'],
    ['web-4', null],
  ] as const) {
    const { id } = await insertDelivery(store, (await insertAgent(store, name)).id, cargo)
    await store.write((writer) => writer.setDeliveryStatus(id, 'falhou', NOW, error))
  }
  const replaced = await insertDelivery(store, (await insertAgent(store, 'web-5')).id, cargo)
  await store.write(async (writer) => {
    await writer.setDeliveryStatus(replaced.id, 'falhou', NOW, 'disk full')
    const successor = { ...replaced, id: crypto.randomUUID() as typeof replaced.id }
    await writer.replaceDeliveries([{ old: replaced.id, successor }], LATER)
  })
  const groups = await store.reader.summary.groupFailures(9)
  assert.deepEqual(
    groups.map(({ reason, count }) => [reason.slice(0, 9), reason.length, count]),
    [
      ['xxxxxxxxx', 200, 2],
      ['', 0, 1],
      ['disk full', 9, 1],
    ],
  )
  assert.equal((await store.reader.summary.groupFailures(1)).length, 1)
})
