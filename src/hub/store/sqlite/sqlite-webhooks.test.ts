import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  insertWebhook,
  sampleWebhook,
  WEBHOOK_SECRET,
} from '../../../../test/support/webhook-samples.ts'
import { Secret } from '../../../platform/secret.ts'
import type { WebhookId } from '../../../protocol/identifiers.ts'
import type { WebhookProgress } from '../../domain/webhook.ts'
import { append, LATER, NOW } from '../../../../test/store/store-samples.ts'
import type { Store } from '../store.ts'
import { openReader } from './encrypted-database.ts'
import { openSqliteStore } from './sqlite-store.ts'

const PROGRESS: WebhookProgress = {
  cursorSeq: 42,
  attempts: 3,
  waitedMs: 7000,
  nextAttemptAt: LATER,
  lastSuccessAt: NOW,
  lastErrorAt: LATER,
  lastError: 'answered 500',
}

describe('webhooks in the store', () => {
  let directory: string
  let store: Store
  let path: string
  let dataKey: Secret<Buffer>
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'store-'))
    path = join(directory, 'db.enc')
    dataKey = new Secret(randomBytes(32))
    store = await openSqliteStore({ path, dataKey, createIfMissing: true })
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  test('are found field for field, and the secret apart from them', async () => {
    const webhook = sampleWebhook({ types: ['a', 'b'], disabledAt: LATER, progress: PROGRESS })
    await store.write((writer) => writer.webhooks.insert(webhook, WEBHOOK_SECRET))
    const { webhooks } = store.reader
    assert.deepEqual(await webhooks.find(webhook.id), webhook)
    assert.equal(await webhooks.findSecret(webhook.id), WEBHOOK_SECRET)
    assert.equal(await webhooks.find(sampleWebhook().id), undefined)
    assert.equal(await webhooks.findSecret(sampleWebhook().id), undefined)
    const second = await insertWebhook(store)
    assert.deepEqual(await webhooks.list(), [webhook, second])
  })

  test('get on only as the generation that they are', async () => {
    const webhook = await insertWebhook(store)
    const set = (generation: number): Promise<boolean> =>
      store.write((writer) => writer.webhooks.setProgress(webhook.id, generation, PROGRESS))
    assert.equal(await set(2), false)
    assert.deepEqual(await store.reader.webhooks.find(webhook.id), webhook)
    assert.equal(await set(1), true)
    assert.deepEqual(await store.reader.webhooks.find(webhook.id), {
      ...webhook,
      progress: PROGRESS,
    })
  })

  test('[WHK-11] a restart is another generation, is enabled, and waits for nothing', async () => {
    const webhook = await insertWebhook(store, { progress: PROGRESS, disabledAt: NOW })
    const restart = async (cursorSeq: number): Promise<unknown> => {
      await store.write((writer) => writer.webhooks.restart(webhook.id, cursorSeq))
      return store.reader.webhooks.find(webhook.id)
    }
    const going = { ...PROGRESS, nextAttemptAt: null }
    assert.deepEqual(await restart(42), {
      ...webhook,
      disabledAt: null,
      generation: 2,
      progress: going,
    })
    assert.deepEqual(await restart(7), {
      ...webhook,
      disabledAt: null,
      generation: 3,
      progress: { ...going, cursorSeq: 7, attempts: 0, waitedMs: 0 },
    })
  })

  test('[WHK-20] with a selector are disabled to an earlier program, whether they are or not', async () => {
    const where = { terms: [{ key: 'env', values: ['prod'], isNegated: false }] }
    const webhook = await insertWebhook(store, { where })
    const asEarlier = (): unknown => {
      const reader = openReader(path, dataKey)
      try {
        return reader.prepare('SELECT disabled_at IS NULL AS sent FROM webhooks').all()
      } finally {
        reader.close()
      }
    }
    const find = () => store.reader.webhooks.find(webhook.id)
    assert.deepEqual([await find(), asEarlier()], [webhook, [{ sent: 0 }]])
    await store.write((writer) => writer.webhooks.setDisabled(webhook.id, LATER))
    assert.deepEqual([(await find())?.disabledAt, asEarlier()], [LATER, [{ sent: 0 }]])
    await store.write((writer) => writer.webhooks.restart(webhook.id, 0))
    assert.deepEqual([(await find())?.disabledAt, asEarlier()], [null, [{ sent: 0 }]])
  })

  test('keep what they gave up, until it was sent or they are removed', async () => {
    const { id: webhookId } = await insertWebhook(store)
    const dead = (seq: number, error = 'e') => ({ webhookId, seq, diedAt: NOW, error })
    const { webhooks } = store.reader
    await store.write(async (writer) => {
      for (const seq of [9, 3, 5]) await writer.webhooks.insertDead(dead(seq))
      await writer.webhooks.insertDead(dead(5, 'again'))
    })
    assert.deepEqual(await webhooks.listDead(webhookId), [dead(3), dead(5, 'again'), dead(9)])
    assert.deepEqual(await webhooks.listDeadToReplay(webhookId), [])
    await store.write(async (writer) => {
      await writer.webhooks.markDeadToReplay(webhookId)
      await writer.webhooks.insertDead(dead(3))
      await writer.webhooks.removeDead(webhookId, 5)
    })
    assert.deepEqual(await webhooks.listDeadToReplay(webhookId), [dead(9)])
    await store.write((writer) => writer.webhooks.removeDeadAfter(webhookId, 3))
    assert.deepEqual(await webhooks.listDead(webhookId), [dead(3)])
    assert.equal(await webhooks.countDead(webhookId), 1)
    assert.equal(await store.write((writer) => writer.webhooks.remove(webhookId)), true)
    assert.equal(await webhooks.countDead(webhookId), 0)
    assert.equal(await store.write((writer) => writer.webhooks.remove(webhookId)), false)
  })

  test('[WHK-8] keep the newest thousand of what they gave up, each for itself', async () => {
    const { id: webhookId } = await insertWebhook(store)
    const { id: other } = await insertWebhook(store)
    const dead = (id: WebhookId, seq: number) => ({ webhookId: id, seq, diedAt: NOW, error: 'e' })
    const { webhooks } = store.reader
    await store.write(async (writer) => {
      await writer.webhooks.insertDead(dead(other, 1))
      for (let seq = 1; seq <= 1000; seq += 1)
        await writer.webhooks.insertDead(dead(webhookId, seq))
    })
    assert.equal((await webhooks.listDead(webhookId))[0]?.seq, 1)
    await store.write(async (writer) => {
      await writer.webhooks.insertDead(dead(webhookId, 1000))
      for (const seq of [1001, 1002]) await writer.webhooks.insertDead(dead(webhookId, seq))
    })
    const kept = await webhooks.listDead(webhookId)
    assert.deepEqual([kept.length, kept[0]?.seq, kept.at(-1)?.seq], [1000, 3, 1002])
    assert.equal(await webhooks.countDead(other), 1)
  })

  test('entries of a type are counted after a number, and no further than asked', async () => {
    for (const eventType of ['a', 'b', 'a', 'a']) await append(store, { eventType })
    const { webhooks } = store.reader
    assert.equal(await webhooks.countEntriesOfType('a', 0, 100), 3)
    assert.equal(await webhooks.countEntriesOfType('a', 1, 100), 2)
    assert.equal(await webhooks.countEntriesOfType('a', 0, 2), 2)
    assert.equal(await webhooks.countEntriesOfType('c', 0, 100), 0)
  })
})
