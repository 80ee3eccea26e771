import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { append, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { insertWebhook, sampleWebhook } from '../../../../test/support/webhook-samples.ts'
import type { WebhookId } from '../../../protocol/identifiers.ts'
import type { Webhook } from '../../domain/webhook.ts'
import type { Store } from '../../store/store.ts'

const SECOND = new Date(NOW.getTime() + 1000)

let store: Store & AsyncDisposable
let webhook: Webhook
let replay: ToldAdmin['admin']['replayWebhook']
let changed = 0

/** The log has four entries of NOW and two of a second later at its beginning. */
before(async () => {
  store = await openTemporaryStore()
  for (const at of [NOW, NOW, NOW, NOW, SECOND, SECOND]) await append(store, { at })
  const webhooks = {
    changed: async () => {
      changed += 1
    },
    test: () => assert.fail('nothing is sent'),
  }
  replay = openAdmin(store, { webhooks }).admin.replayWebhook
})
after(() => store[Symbol.asyncDispose]())

/** One that has got as far as entry 5, which fails, and gave up 2 and 4. */
beforeEach(async () => {
  const { progress } = sampleWebhook()
  webhook = await insertWebhook(store, {
    disabledAt: NOW,
    progress: {
      ...progress,
      cursorSeq: 5,
      attempts: 3,
      waitedMs: 7000,
      nextAttemptAt: LATER,
      lastError: '503',
    },
  })
  for (const seq of [2, 4]) {
    const dead = { webhookId: webhook.id, seq, diedAt: NOW, error: '500' }
    await store.write((writer) => writer.webhooks.insertDead(dead))
  }
})

const find = async (id: WebhookId = webhook.id): Promise<Webhook> =>
  (await store.reader.webhooks.find(id)) ?? assert.fail()

async function deadSeqs(): Promise<number[]> {
  return (await store.reader.webhooks.listDead(webhook.id)).map(({ seq }) => seq)
}

describe('[WHK-11] a webhook that is replayed', () => {
  test('[WHK-9] goes on at once without an option, and is enabled again', async () => {
    const seq = await lastSeq(store.reader)
    const told = changed
    const reply = await replay({ webhook: webhook.id })
    assert.deepEqual(
      [reply.state, reply.next_attempt_at, reply.dead, reply.disabled_at],
      ['failing', null, 2, null],
    )
    const { progress, disabledAt, generation } = await find()
    assert.deepEqual(
      [progress.cursorSeq, progress.attempts, progress.waitedMs, disabledAt],
      [5, 3, 7000, null],
      'its message dies no later for it',
    )
    assert.equal(generation, webhook.generation + 1, 'what was under way moves it no more')
    assert.deepEqual(await readActs(store.reader, seq), [
      [
        'webhook_replayed',
        {
          actor: 'admin',
          webhook_id: webhook.id,
          origin: 'https://receiver.example',
          after_seq: 5,
          dead: false,
        },
      ],
    ])
    assert.deepEqual(await store.reader.webhooks.listDeadToReplay(webhook.id), [])
    assert.equal(changed, told + 1)
  })

  test('is sent from an entry on again, with what it had given up since', async () => {
    await replay({ webhook: webhook.id, seq: 3 })
    const { cursorSeq, attempts, waitedMs } = (await find()).progress
    assert.deepEqual([cursorSeq, attempts, waitedMs], [2, 0, 0])
    assert.deepEqual(await deadSeqs(), [2])
    await replay({ webhook: webhook.id, seq: 1 })
    assert.deepEqual([(await find()).progress.cursorSeq, await deadSeqs()], [0, []])
  })

  test('is sent from a time on again: from the first entry at it or after it', async () => {
    await replay({ webhook: webhook.id, since: SECOND.toISOString() })
    assert.equal((await find()).progress.cursorSeq, 4)
    await replay({ webhook: webhook.id, since: '2026-01-01T00:00:00Z' })
    assert.equal((await find()).progress.cursorSeq, 0)
  })

  test('is sent each dead message once more, and goes on where it was', async () => {
    const seq = await lastSeq(store.reader)
    await replay({ webhook: webhook.id, dead: true })
    assert.equal((await find()).progress.cursorSeq, 5)
    const again = await store.reader.webhooks.listDeadToReplay(webhook.id)
    assert.deepEqual(
      again.map((one) => one.seq),
      [2, 4],
    )
    const [[, payload] = []] = await readActs(store.reader, seq)
    assert.equal((payload as { dead: boolean }).dead, true)
  })

  test('twice at once is moved twice, one after the other', async () => {
    await Promise.all([3, 1].map((seq) => replay({ webhook: webhook.id, seq })))
    const { progress, generation } = await find()
    assert.deepEqual([progress.cursorSeq, generation], [0, webhook.generation + 2])
  })
})

describe('[WHK-11] a replay is refused', () => {
  test('for a time that is none, for options that do not go together, and for an unknown webhook', async () => {
    const seq = await lastSeq(store.reader)
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const [request, code, message] of [
      [{ webhook: unknown, since: 'noon', seq: 1 }, 'time_invalid', 'noon is not a time'],
      [{ webhook: unknown, seq: 1, dead: true }, 'usage', 'give only one of seq, since and dead'],
      [{ webhook: unknown, seq: 9 }, 'webhook_not_found', `no webhook ${unknown}`],
      [{ webhook: 'mine' }, 'webhook_not_found', 'no webhook mine'],
    ] as const) {
      await assert.rejects(replay(request), { code, message })
    }
    assert.deepEqual(await readActs(store.reader, seq), [])
  })

  test('from what was not sent yet on; the entry that is next is no replay, and allowed', async () => {
    const ahead = { code: 'replay_ahead', message: 'the hub has sent nothing from there on yet' }
    await assert.rejects(replay({ webhook: webhook.id, seq: 7 }), {
      ...ahead,
    })
    await assert.rejects(replay({ webhook: webhook.id, since: '2027-01-01T00:00:00Z' }), ahead)
    assert.deepEqual([(await find()).generation, await deadSeqs()], [webhook.generation, [2, 4]])
    await replay({ webhook: webhook.id, seq: 6 })
    assert.equal((await find()).progress.cursorSeq, 5)
  })

  test('when the vault cannot be written: nothing is moved, and nobody is told', async () => {
    const told = changed
    const write = (): never => assert.fail('no space left')
    const failing = openAdmin({ ...store, write }).admin
    await assert.rejects(failing.replayWebhook({ webhook: webhook.id, seq: 1 }), {
      message: 'no space left',
    })
    assert.deepEqual(await find(), webhook)
    assert.equal(changed, told)
  })
})
