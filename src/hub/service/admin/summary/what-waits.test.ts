// What the summary of a fleet says of webhooks, revocations and rollouts that do not get on: docs/protocol.md OVW-6, OVW-7.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  append,
  insertAgent,
  insertCargo,
  insertDelivery,
  LATER,
  newCertificate,
  NOW,
} from '../../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../../test/support/temporary-store.ts'
import { insertWebhook, sampleWebhook } from '../../../../../test/support/webhook-samples.ts'
import type { Rollout } from '../../../domain/rollout.ts'
import type { StoreReader } from '../../../store/store.ts'
import {
  describeRevocations,
  listFailures,
  listLaggingWebhooks,
  listRolloutsUnderWay,
} from './what-waits.ts'

test('[OVW-6] ten reasons at most are told of each kind, the most frequent first', async () => {
  await using store = await openTemporaryStore()
  const cargo = await insertCargo(store, 'site')
  const agent = await insertAgent(store, 'web-1')
  for (let at = 0; at < 12; at += 1) {
    for (let times = 0; times <= (at === 11 ? 1 : 0); times += 1) {
      const { id } = await insertDelivery(store, agent.id, cargo)
      await store.write((writer) => writer.setDeliveryStatus(id, 'falhou', NOW, `reason ${at}`))
    }
  }
  const failures = await listFailures(store.reader, undefined)
  assert.deepEqual([failures.length, failures[0]?.reason, failures[0]?.count], [10, 'reason 11', 2])
})

test('[OVW-7] webhooks are named that fail, are disabled, are a thousand entries behind, or have dead messages', async () => {
  await using store = await openTemporaryStore()
  const fine = await insertWebhook(store)
  const { progress } = sampleWebhook()
  const failing = await insertWebhook(store, {
    progress: { ...progress, attempts: 2, lastError: 'answered 500' },
  })
  const disabled = await insertWebhook(store, { disabledAt: NOW })
  const dead = await insertWebhook(store)
  await store.write((writer) =>
    writer.webhooks.insertDead({ webhookId: dead.id, seq: 1, diedAt: NOW, error: 'gone' }),
  )
  await append(store, {})
  const lagging = async (lastSeq: number) => {
    const reader: StoreReader = Object.create(store.reader, {
      findChainEnd: { value: async () => ({ seq: lastSeq, timestamp: '', hash: '' }) },
    })
    return listLaggingWebhooks(reader, await store.reader.webhooks.list())
  }
  const { total, first } = await lagging(1000)
  assert.deepEqual(
    new Map(
      first.map(({ id, disabled: isOff, error, dead: count }) => [id, [isOff, error, count]]),
    ),
    new Map<string, unknown>([
      [failing.id, [false, 'answered 500', 0]],
      [disabled.id, [true, null, 0]],
      [dead.id, [false, null, 1]],
    ]),
  )
  assert.equal(total, 3)
  assert.deepEqual([(await lagging(1001)).total, fine.progress.cursorSeq], [4, 0])
})

test('[OVW-7] of ten webhooks at most is told how they are, and how many there are', async () => {
  await using store = await openTemporaryStore()
  for (let at = 0; at < 12; at += 1) await insertWebhook(store, { disabledAt: NOW })
  const { total, first } = await listLaggingWebhooks(
    store.reader,
    await store.reader.webhooks.list(),
  )
  assert.deepEqual([total, first.length], [12, 10])
})

test('[OVW-7] revocations that the CA refused are told apart from those that wait', async () => {
  await using store = await openTemporaryStore()
  const none = { waiting: 0, refused: 0, oldest_at: null, reason: null }
  assert.deepEqual(await describeRevocations(store.reader, NOW), none)
  const agents = [await insertAgent(store, 'web-1'), await insertAgent(store, 'web-2')]
  const made = agents.map(({ id }) => ({ ...newCertificate(id), notAfter: LATER }))
  const [refused] = made
  assert.ok(refused !== undefined)
  await store.write(async (writer) => {
    for (const one of made) await writer.insertCertificate(one)
    for (const [at, { id }] of agents.entries()) {
      await writer.revokeCertificates(id, new Date(NOW.getTime() + at))
    }
    await writer.setCaRefused(refused.sha256, LATER, 'no')
  })
  assert.deepEqual(await describeRevocations(store.reader, NOW), {
    waiting: 1,
    refused: 1,
    oldest_at: NOW.toISOString(),
    reason: 'no',
  })
})

test('[OVW-7] of rollouts the first five say how many hosts are where, for that costs the hub its time', async () => {
  const open = Array.from({ length: 7 }, (_, at) => ({
    id: `r${at}`,
    subject: { kind: 'roots', number: at, epoch: 1 },
    state: 'open',
    wave: 0,
    waves: [],
    reason: null,
  })) as unknown as Rollout[]
  let counted = 0
  const rollouts = {
    listOpen: async () => open,
    countWaves: async () => {
      counted += 1
      return []
    },
  }
  const shown = await listRolloutsUnderWay({ rollouts } as unknown as StoreReader)
  assert.deepEqual([shown.length, counted], [7, 5])
  assert.deepEqual(
    shown.map(({ hosts }) => hosts?.total),
    [0, 0, 0, 0, 0, undefined, undefined],
  )
})
