import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { append, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { insertWebhook, sampleWebhook } from '../../../../test/support/webhook-samples.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Webhook } from '../../domain/webhook.ts'
import type { Store } from '../../store/store.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const NOT_FOUND = { code: 'webhook_not_found', message: `no webhook ${UNKNOWN}` }

let store: Store & AsyncDisposable
let admin: AdminOperations
let webhook: Webhook
let happened: string[]
let sends: () => Promise<object>

before(async () => {
  store = await openTemporaryStore()
  const webhooks = {
    changed: async () => void happened.push('changed'),
    test: async ({ id }: Webhook) => {
      const [[type] = []] = (await readActs(store.reader)).slice(-1)
      happened.push(`sent to ${id === webhook.id ? 'it' : id} after ${type}`)
      return (await sends()) as never
    },
  }
  ;({ admin } = openAdmin(store, { webhooks }))
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  happened = []
  webhook = await insertWebhook(store)
})

describe('svc webhook show', () => {
  test('[WHK-8] [WHK-9] says how it stands, what waits for it and what was given up', async () => {
    await append(store, { eventType: 'first' })
    const first = await lastSeq(store.reader)
    for (const eventType of ['noted', 'other']) await append(store, { eventType })
    const progress = {
      ...sampleWebhook().progress,
      cursorSeq: first,
      attempts: 2,
      nextAttemptAt: LATER,
      lastSuccessAt: NOW,
      lastErrorAt: LATER,
      lastError: '503',
    }
    const { id } = await insertWebhook(store, { types: ['noted'], progress })
    const dead = { webhookId: id, seq: first, diedAt: LATER, error: '500' }
    await store.write((writer) => writer.webhooks.insertDead(dead))
    const later = '2026-11-21T11:00:00.000Z'
    assert.deepEqual(await admin.showWebhook({ webhook: id }), {
      id,
      url: 'https://receiver.example/in',
      tipos: ['noted'],
      where: null,
      state: 'failing',
      backlog: 1,
      dead: 1,
      attempts: 2,
      next_attempt_at: later,
      last_success_at: '2026-11-21T10:00:00.123Z',
      last_error_at: later,
      erro: '503',
      seq: first,
      created_at: '2026-11-21T10:00:00.123Z',
      disabled_at: null,
      dead_messages: [{ seq: first, tipo_evento: 'first', died_at: later, erro: '500' }],
    })
    await store.write((writer) => writer.webhooks.setDisabled(id, LATER))
    const { state, disabled_at } = await admin.showWebhook({ webhook: id })
    assert.deepEqual([state, disabled_at], ['disabled', later])
    await assert.rejects(admin.showWebhook({ webhook: UNKNOWN }), NOT_FOUND)
  })
})

describe('svc webhook list', () => {
  test('[API-15] goes page by page, oldest first, and refuses a place that there is not', async () => {
    await insertWebhook(store)
    const ids = (await store.reader.webhooks.list()).map(({ id }) => id)
    const first = await admin.listWebhooks({ limit: 2 })
    assert.deepEqual([first.webhooks.map(({ id }) => id), first.next], [ids.slice(0, 2), ids[1]])
    const rest = await admin.listWebhooks({ after: ids[1] ?? '', limit: 100 })
    assert.deepEqual([rest.webhooks.map(({ id }) => id), rest.next], [ids.slice(2), null])
    await assert.rejects(admin.listWebhooks({ after: UNKNOWN }), { code: 'cursor_unknown' })
  })
})

describe('svc webhook test', () => {
  test('[WHK-12] records that it was asked for, then sends, and says what came of it', async () => {
    const seq = await lastSeq(store.reader)
    sends = async () => ({
      messageId: 'msg_1',
      ok: false,
      status: 503,
      error: '503',
      durationMs: 7,
    })
    assert.deepEqual(await admin.testWebhook({ webhook: webhook.id }), {
      id: webhook.id,
      message_id: 'msg_1',
      ok: false,
      status: 503,
      erro: '503',
      duration_ms: 7,
    })
    assert.deepEqual(happened, ['sent to it after webhook_tested'])
    const origin = 'https://receiver.example'
    assert.deepEqual(await readActs(store.reader, seq), [
      ['webhook_tested', { actor: 'admin', webhook_id: webhook.id, origin }],
    ])
  })

  test('[WHK-12] is recorded also when sending breaks', async () => {
    const seq = await lastSeq(store.reader)
    sends = () => Promise.reject(new Error('a bug'))
    await assert.rejects(admin.testWebhook({ webhook: webhook.id }), { message: 'a bug' })
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })

  test('[WHK-12] sends nothing where no hub runs, or nobody is known, and records nothing', async () => {
    const seq = await lastSeq(store.reader)
    const offline = openAdmin(store).admin
    await assert.rejects(offline.testWebhook({ webhook: UNKNOWN }), NOT_FOUND)
    await assert.rejects(offline.testWebhook({ webhook: webhook.id }), {
      code: 'hub_not_running',
      message: 'no hub runs, and only a hub sends webhooks',
    })
    await assert.rejects(admin.testWebhook({ webhook: UNKNOWN }), NOT_FOUND)
    assert.deepEqual([happened, await readActs(store.reader, seq)], [[], []])
  })
})

describe('svc webhook remove', () => {
  test('[WHK-17] takes it away with its secret and what it gave up, and answers what it was', async () => {
    const dead = { webhookId: webhook.id, seq: 1, diedAt: LATER, error: '500' }
    await store.write((writer) => writer.webhooks.insertDead(dead))
    const seq = await lastSeq(store.reader)
    const removed = await admin.removeWebhook({ webhook: webhook.id })
    assert.deepEqual([removed.id, removed.dead], [webhook.id, 1])
    assert.equal(await store.reader.webhooks.find(webhook.id), undefined)
    assert.equal(await store.reader.webhooks.findSecret(webhook.id), undefined)
    assert.deepEqual(await store.reader.webhooks.listDead(webhook.id), [])
    const origin = 'https://receiver.example'
    assert.deepEqual(await readActs(store.reader, seq), [
      ['webhook_removed', { actor: 'admin', webhook_id: webhook.id, origin }],
    ])
    assert.deepEqual(happened, ['changed'], 'it answers when nothing more is sent')
    await assert.rejects(admin.removeWebhook({ webhook: webhook.id }), {
      code: 'webhook_not_found',
    })
  })

  test('[WHK-17] twice at once is one removal', async () => {
    const seq = await lastSeq(store.reader)
    const both = await Promise.allSettled(
      [1, 2].map(() => admin.removeWebhook({ webhook: webhook.id })),
    )
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })
})
