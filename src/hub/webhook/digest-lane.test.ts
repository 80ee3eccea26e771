// A lane to people under a clock that jumps to the end of each wait: an outage of the whole fleet is a few messages.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { NOTICES, SOME_AGENT } from '../../../test/support/notice-samples.ts'
import { insertWebhook } from '../../../test/support/webhook-samples.ts'
import { append, insertAgent, newEntry } from '../../../test/store/store-samples.ts'
import type { Clock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import { composeDigest, type NoticeDigest } from '../domain/notice-digest.ts'
import type { Webhook } from '../domain/webhook.ts'
import { appendEntries } from '../service/append-entries.ts'
import { countBacklog } from '../service/webhooks/count-backlog.ts'
import type { Store } from '../store/store.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { DeliveryOutcome } from './delivery.ts'
import { DIGEST_GATHER_MS, DIGEST_MESSAGES_MAX } from './digest-pace.ts'
import { LogTail } from './log-tail.ts'
import { createProgressKeeper } from './progress-keeper.ts'
import { WebhookLane } from './webhook-lane.ts'

const URL_OF_PEOPLE = 'slack+https://hooks.slack.example/services/T/B/x'
const START_MS = Date.parse('2026-11-21T10:00:00Z')

interface Sent {
  readonly atMs: number
  readonly seqs: readonly number[]
  readonly digest: NoticeDigest
}

describe('[WHK-28] a lane to people', () => {
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('x')
  let directory: string
  let store: Store
  let nowMs: number
  const clock: Clock = {
    now: () => new Date(nowMs),
    sleep: async (durationMs, signal) => {
      signal?.throwIfAborted()
      nowMs += durationMs
    },
  }
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'digest-'))
    const path = join(directory, 'db.enc')
    const dataKey = new Secret(randomBytes(32))
    store = await openSqliteStore({ path, dataKey, createIfMissing: true })
    nowMs = START_MS
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  async function appendMany(count: number, eventType: string, payload: object = {}): Promise<void> {
    const one = { agentId: null, eventType, payloadText: JSON.stringify(payload) }
    await store.write((writer) =>
      appendEntries(
        writer,
        Array.from({ length: count }, () => newEntry(one)),
      ),
    )
  }

  /** Until all that there is has been sent. */
  async function run(
    webhook: Webhook,
    answer: (attempt: number) => DeliveryOutcome['kind'] = () => 'delivered',
  ): Promise<Sent[]> {
    const attempts: Sent[] = []
    const stop = new AbortController()
    const tail = new LogTail()
    const waitBeyond = tail.waitBeyond.bind(tail)
    tail.waitBeyond = (seq, signal) => {
      stop.abort(new Error('all sent'))
      return waitBeyond(seq, signal)
    }
    const keeper = createProgressKeeper(store)
    const lane = new WebhookLane(webhook, {
      store,
      clock,
      random: () => 1,
      log,
      tail,
      keeper,
      delivery: {
        messagesMax: DIGEST_MESSAGES_MAX,
        gatherMs: DIGEST_GATHER_MS,
        isDigest: true,
        deliver: async (messages) => {
          const seqs = messages.map(({ data }) => Number(data['seq']))
          attempts.push({ atMs: nowMs, seqs, digest: composeDigest(messages, NOTICES) })
          const kind = answer(attempts.length)
          return { kind, status: 200, error: `it ${kind}`, retryAfterMs: undefined }
        },
      },
      takeTurn: () => 0,
      stop: stop.signal,
      cut: new AbortController().signal,
    })
    await lane.run()
    await keeper.flush()
    return attempts
  }

  async function find({ id }: Webhook): Promise<Webhook> {
    return (await store.reader.webhooks.find(id)) ?? assert.fail()
  }

  test('tells of 10,000 late hosts in ten messages within five minutes, and loses none', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    const payload = { agente_id: SOME_AGENT, hostname: 'web-1', nome: null }
    await appendMany(10_000, 'certificate_late', payload)
    const sent = await run(webhook)
    assert.equal(sent.length, 10)
    assert.deepEqual(
      sent.flatMap(({ seqs }) => seqs),
      Array.from({ length: 10_000 }, (_, at) => at + 1),
    )
    for (const [at, { atMs, digest }] of sent.entries()) {
      assert.equal(atMs - START_MS, at * DIGEST_GATHER_MS)
      assert.equal(digest.title, 'Certificate is late: 1000 entries')
      assert.equal(digest.groups[0]?.more, 'and 997 more of the same')
    }
    assert.equal((await find(webhook)).progress.cursorSeq, 10_000)
  })

  test('[WHK-27] gets what a person should look at, and nothing that an agent says in the hub’s name', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    const host = await insertAgent(store, 'web-1')
    await append(store, { agentId: host.id, eventType: 'agent_started' })
    await append(store, { agentId: host.id, eventType: 'agent_revoked' })
    await append(store, {
      agentId: host.id,
      eventType: 'entrega_falhou',
      payloadText: '{"erro":"x"}',
    })
    await append(store, { agentId: null, eventType: 'carga_created' })
    await append(store, { agentId: null, eventType: 'agent_revoked' })
    await append(store, { agentId: null, eventType: 'webhook_dead' })
    const start = (await find(webhook)).progress.cursorSeq
    assert.equal(await countBacklog(store.reader, webhook), 3)
    const [sent, ...others] = await run(webhook)
    assert.ok(sent !== undefined && others.length === 0)
    assert.deepEqual(
      sent.seqs.map((seq) => seq - start),
      [3, 5],
    )
    assert.equal(
      sent.digest.groups[0]?.lines[0]?.sentence,
      'web-1 could not install a delivery: x.',
    )
    // What was named is sent, whoever says it.
    const named = await insertWebhook(store, { url: URL_OF_PEOPLE, types: ['agent_revoked'] })
    assert.deepEqual((await run(named))[0]?.seqs, [2, 5])
  })

  test('waits and tries the same again, with what came meanwhile in the next', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    await appendMany(1500, 'certificate_late')
    const sent = await run(webhook, (attempt) => (attempt <= 3 ? 'failed' : 'delivered'))
    assert.deepEqual(
      sent.map(({ atMs, seqs }) => [atMs - START_MS, seqs.length]),
      [
        [0, 1000],
        [1000, 1000],
        [3000, 1000],
        [7000, 1000],
        [7000 + DIGEST_GATHER_MS, 500],
      ],
    )
  })

  test('[WHK-33] gives up all of a message that is refused, in one entry of the log, and sends the next', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    await appendMany(1200, 'certificate_late')
    const sent = await run(webhook, (attempt) => (attempt === 1 ? 'refused' : 'delivered'))
    assert.deepEqual(
      sent.map(({ seqs }) => seqs.length),
      [1000, 200],
    )
    assert.equal(await store.reader.webhooks.countDead(webhook.id), 1000)
    const obituaries = await store.reader.listEntries({ afterSeq: 1200, limit: 10 })
    assert.deepEqual(
      obituaries.map(({ eventType, payloadText }) => {
        const { seq, ate, entradas, erro } = JSON.parse(payloadText) as Record<string, unknown>
        return [eventType, seq, ate, entradas, erro]
      }),
      [['webhook_dead', 1, 1000, 1000, 'it refused']],
    )

    await store.write((writer) => writer.webhooks.markDeadToReplay(webhook.id))
    const again = await run(await find(webhook))
    assert.deepEqual(
      again.map(({ seqs }) => seqs.length),
      [1000],
    )
    assert.equal(await store.reader.webhooks.countDead(webhook.id), 0)
  })

  test('[WHK-33] gives up all of a message after three days, and none of the next', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    await appendMany(1001, 'certificate_late')
    const sent = await run(webhook, (attempt) => (attempt > 90 ? 'delivered' : 'failed'))
    const dead = await store.reader.webhooks.listDead(webhook.id)
    assert.equal(dead.length, 1000)
    assert.deepEqual(sent.at(-1)?.seqs, [1001])
  })

  test('[WHK-33] sends nothing more to one that is gone, and goes on from there when it is replayed', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    await appendMany(3, 'certificate_late')
    await run(webhook, () => 'gone')
    const gone = await find(webhook)
    assert.deepEqual([gone.disabledAt !== null, gone.progress.lastError], [true, 'it gone'])
    assert.equal(gone.progress.cursorSeq, 0)
    await store.write((writer) => writer.webhooks.restart(webhook.id, 0))
    assert.deepEqual((await run(await find(webhook)))[0]?.seqs, [1, 2, 3, 4])
  })

  test('holds no more of payloads at once than its bound, whatever agents send', async () => {
    const webhook = await insertWebhook(store, { url: URL_OF_PEOPLE })
    await appendMany(900, 'certificate_late', { hostname: 'x'.repeat(16_000) })
    const sent = await run(webhook)
    assert.deepEqual(
      sent.map(({ seqs }) => seqs.length),
      [272, 272, 272, 84],
    )
  })
})
