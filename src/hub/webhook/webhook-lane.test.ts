// One lane under a clock that jumps to the end of each wait: days pass in no time.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  type Answer,
  createFakeReceiver,
  type FakeReceiver,
  insertWebhook,
  WEBHOOK_SECRET,
} from '../../../test/support/webhook-samples.ts'
import type { Clock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import type { AgentId, WebhookId } from '../../protocol/identifiers.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { Store } from '../store/store.ts'
import { append, insertAgent } from '../../../test/store/store-samples.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { createWebhookDelivery } from './webhook-delivery.ts'
import type { DeliveryOutcome } from './delivery.ts'
import { LogTail } from './log-tail.ts'
import { createProgressKeeper } from './progress-keeper.ts'
import { type LaneDependencies, WebhookLane } from './webhook-lane.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.parse('2026-11-21T10:00:00Z')

interface JumpingClock extends Clock {
  /** How long it waited in all. */
  readonly waitedMs: number
  /** As somebody sets it. */
  set(nowMs: number): void
}

function createJumpingClock(): JumpingClock {
  let nowMs = START_MS
  let waitedMs = 0
  return {
    now: () => new Date(nowMs),
    sleep: async (durationMs, signal) => {
      signal?.throwIfAborted()
      nowMs += durationMs
      waitedMs += durationMs
    },
    get waitedMs() {
      return waitedMs
    },
    set: (toMs) => {
      nowMs = toMs
    },
  }
}

describe('a lane', () => {
  const dataKey = new Secret(randomBytes(32))
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('x')
  let directory: string
  let store: Store
  let clock: JumpingClock
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lane-'))
    const path = join(directory, 'db.enc')
    store = await openSqliteStore({ path, dataKey, createIfMissing: true })
    clock = createJumpingClock()
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  /** Runs a lane until all that there is has been sent, or until the signal aborts. */
  async function runLane(
    webhook: Webhook,
    delivery: LaneDependencies['delivery'],
    stop = new AbortController(),
  ): Promise<void> {
    const tail = new LogTail()
    const waitBeyond = tail.waitBeyond.bind(tail)
    // Nothing more comes in these tests: whoever waits for it is done.
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
      delivery,
      takeTurn: () => 0,
      stop: stop.signal,
      cut: new AbortController().signal,
    })
    await lane.run()
    await keeper.flush()
  }

  /** Runs a lane until `isEnough` says so of an attempt, or until all that there is has been sent. */
  async function run(
    webhook: Webhook,
    answer: (seq: number, attempt: number) => Answer,
    isEnough: (attempts: number) => boolean = () => false,
  ): Promise<FakeReceiver> {
    const stop = new AbortController()
    const receiver = createFakeReceiver(({ seq }, attempt) => {
      if (isEnough(attempt)) stop.abort(new Error('enough'))
      return answer(seq, attempt)
    })
    const connection = receiver.open()
    const secret = new Secret(WEBHOOK_SECRET)
    const delivery = createWebhookDelivery({ connection, secret, clock, userAgent: 'test' })
    await runLane(webhook, delivery, stop)
    return receiver
  }

  const find = async (id: WebhookId): Promise<Webhook> =>
    (await store.reader.webhooks.find(id)) ?? assert.fail('it is gone')

  test('[WHK-8] gives up a message after three days of waits, records it, and goes on', async () => {
    const webhook = await insertWebhook(store)
    await append(store, { eventType: 'poison', payloadText: '{"secret":"of nobody"}' })
    await append(store, { eventType: 'fine' })
    const { accepted, attempts } = await run(webhook, (seq) => (seq === 1 ? 400 : 200))
    assert.deepEqual(
      accepted.map(({ seq }) => seq),
      [2],
    )
    assert.ok(clock.waitedMs >= 72 * HOUR_MS && clock.waitedMs < 73 * HOUR_MS, `${clock.waitedMs}`)
    assert.ok(attempts.length > 80 && attempts.length < 90, `${attempts.length} attempts`)
    const [dead, ...others] = await store.reader.webhooks.listDead(webhook.id)
    assert.deepEqual(others, [])
    assert.deepEqual([dead?.seq, dead?.error], [1, 'answered 400'])
    const [entry] = await store.reader.listEntries({
      afterSeq: 0,
      limit: 9,
      eventType: 'webhook_dead',
    })
    assert.equal(entry?.agentId, null)
    assert.deepEqual(JSON.parse(entry.payloadText), {
      actor: 'hub',
      webhook_id: webhook.id,
      origin: 'https://receiver.example',
      seq: 1,
      tipo_evento: 'poison',
      erro: 'answered 400',
    })
    // Past its own obituary too, which is sent to nobody.
    assert.equal((await find(webhook.id)).progress.cursorSeq, 3)
  })

  /** Runs a lane of a form that takes ten at once, until all is sent; each outcome is what `answer` says of the numbers sent. */
  async function runBatches(
    webhook: Webhook,
    answer: (seqs: readonly number[], attempt: number) => DeliveryOutcome['kind'],
  ): Promise<string[]> {
    const attempts: string[] = []
    await runLane(webhook, {
      messagesMax: 10,
      gatherMs: 0,
      isDigest: false,
      deliver: async (messages) => {
        const seqs = messages.map(({ data }) => Number(data['seq']))
        const kind = answer(seqs, attempts.length + 1)
        attempts.push(`${seqs[0]}-${seqs.at(-1)} ${kind}`)
        return { kind, status: 200, error: `it ${kind}`, retryAfterMs: undefined }
      },
    })
    return attempts
  }

  test('[WHK-21] halves a batch that fails, so that one message holds up no other for days', async () => {
    const webhook = await insertWebhook(store)
    for (let at = 0; at < 12; at += 1) await append(store, {})
    let refusals = 0
    const attempts = await runBatches(webhook, (seqs) => {
      if (!seqs.includes(4)) return 'delivered'
      refusals += 1
      return refusals > 6 ? 'delivered' : 'failed'
    })
    assert.deepEqual(attempts, [
      '1-10 failed',
      '1-5 failed',
      '1-2 delivered',
      '3-10 failed',
      '3-7 failed',
      '3-4 failed',
      '3-3 delivered',
      '4-10 failed',
      '4-8 delivered',
      '9-10 delivered',
      '11-12 delivered',
    ])
    assert.equal((await find(webhook.id)).progress.cursorSeq, 12)
    assert.equal(await store.reader.webhooks.countDead(webhook.id), 0)
  })

  test('[WHK-24] gives up at once what a receiver rejects alone, and finds out which that is', async () => {
    const webhook = await insertWebhook(store)
    for (let at = 0; at < 4; at += 1) await append(store, {})
    const attempts = await runBatches(webhook, (seqs) =>
      seqs.includes(2) ? 'rejected' : 'delivered',
    )
    assert.deepEqual(attempts, [
      '1-4 rejected',
      '1-2 rejected',
      '1-1 delivered',
      '2-3 rejected',
      '2-2 rejected',
      '3-3 delivered',
      '4-4 delivered',
    ])
    const dead = await store.reader.webhooks.listDead(webhook.id)
    assert.deepEqual(
      dead.map(({ seq, error }) => [seq, error]),
      [[2, 'it rejected']],
    )
    assert.equal(clock.waitedMs, 0)
    const { progress } = await find(webhook.id)
    assert.deepEqual([progress.attempts, progress.lastError], [0, 'it rejected'])
  })

  test('[WHK-24] halves no further batch of a receiver that rejects all, and grows again with what it takes', async () => {
    const webhook = await insertWebhook(store)
    for (let at = 0; at < 30; at += 1) await append(store, {})
    const attempts = await runBatches(webhook, (seqs) =>
      seqs.some((seq) => seq <= 12) ? 'rejected' : 'delivered',
    )
    assert.deepEqual(attempts.slice(0, 5), [
      '1-10 rejected',
      '1-5 rejected',
      '1-2 rejected',
      '1-1 rejected',
      '2-2 rejected',
    ])
    assert.deepEqual(attempts.slice(14), [
      '12-12 rejected',
      '13-13 delivered',
      '14-15 delivered',
      '16-19 delivered',
      '20-20 delivered',
      '21-30 delivered',
    ])
    assert.equal(await store.reader.webhooks.countDead(webhook.id), 12)
    assert.equal(clock.waitedMs, 0)
  })

  test('[WHK-24] still waits for a receiver that fails after it rejected, and for no other reason', async () => {
    const webhook = await insertWebhook(store)
    for (let at = 0; at < 4; at += 1) await append(store, {})
    const kinds = ['rejected', 'failed', 'failed', 'rejected'] as const
    const attempts = await runBatches(
      webhook,
      (_seqs, attempt) => kinds[attempt - 1] ?? 'delivered',
    )
    assert.deepEqual(attempts, [
      '1-4 rejected',
      '1-2 failed',
      '1-2 failed',
      '1-2 rejected',
      '1-1 delivered',
      '2-3 delivered',
      '4-4 delivered',
    ])
    assert.equal(clock.waitedMs, 3000)
    assert.equal((await find(webhook.id)).progress.lastError, 'it rejected')
  })

  test('[WHK-18] goes past what is about other hosts, and looks again at hosts after it had to wait', async () => {
    const where = { terms: [{ key: 'env', values: ['prod'], isNegated: false }] }
    const webhook = await insertWebhook(store, { where })
    const [prod, other] = [await insertAgent(store, 'p-1'), await insertAgent(store, 'o-1')]
    const label = (agentId: AgentId, set: ReadonlyMap<string, string>, removed: string[] = []) =>
      store.write((writer) => writer.changeLabels([{ agentId, set, removed }]))
    await label(prod.id, new Map([['env', 'prod']]))
    for (let at = 0; at < 120; at += 1) await append(store, { agentId: other.id })
    for (const agentId of [prod.id, other.id, prod.id]) await append(store, { agentId })
    const moved: Promise<void>[] = []
    const sleep = clock.sleep.bind(clock)
    Object.assign(clock, {
      sleep: async (durationMs: number, signal?: AbortSignal) => {
        await Promise.all(moved)
        await sleep(durationMs, signal)
      },
    })
    const { accepted } = await run(webhook, (_seq, attempt) => {
      if (attempt > 3) return 200
      if (attempt === 1)
        moved.push(label(other.id, new Map([['env', 'prod']])), label(prod.id, new Map(), ['env']))
      return 500
    })
    assert.deepEqual(
      accepted.map(({ seq }) => seq),
      [121, 122],
    )
    assert.equal((await find(webhook.id)).progress.cursorSeq, 123)
  })

  test('[WHK-8] counts the waits across restarts, and not the time between', async () => {
    const webhook = await insertWebhook(store)
    await append(store, {})
    let current = webhook
    let attempts = 0
    for (let restarts = 0; restarts < 200; restarts += 1) {
      // A week in which no hub runs, and then a clock that is a year behind.
      clock.set(START_MS + (restarts % 2 === 0 ? 7 * 24 : -365 * 24) * HOUR_MS)
      const receiver = await run(
        current,
        () => 500,
        (attempt) => attempt === 2,
      )
      attempts += receiver.attempts.length
      current = await find(webhook.id)
      if (current.progress.cursorSeq > 0) break
    }
    assert.equal(await store.reader.webhooks.countDead(webhook.id), 1)
    assert.ok(attempts > 70 && clock.waitedMs >= 72 * HOUR_MS, `${attempts} ${clock.waitedMs}`)
  })

  test('[WHK-7] waits after a start for what is left, and never over an hour', async () => {
    const progress = (nextAttemptAt: Date) => ({
      cursorSeq: 0,
      attempts: 5,
      waitedMs: 0,
      nextAttemptAt,
      lastSuccessAt: null,
      lastErrorAt: null,
      lastError: null,
    })
    await append(store, {})
    for (const [nextAttemptMs, waitedMs] of [
      [START_MS + 30_000, 30_000],
      [START_MS - 1, 0],
      [START_MS + 999 * HOUR_MS, HOUR_MS],
    ] as const) {
      clock = createJumpingClock()
      const webhook = await insertWebhook(store, { progress: progress(new Date(nextAttemptMs)) })
      const { accepted } = await run(webhook, () => 200)
      assert.equal(accepted.length, 1)
      assert.equal(clock.waitedMs, waitedMs)
      const { attempts, nextAttemptAt, lastSuccessAt } = (await find(webhook.id)).progress
      assert.deepEqual([attempts, nextAttemptAt], [0, null])
      assert.deepEqual(lastSuccessAt, clock.now())
    }
  })

  test('[WHK-5] goes on after a store that failed, with nothing left out', async () => {
    const webhook = await insertWebhook(store)
    for (let count = 0; count < 5; count += 1) await append(store, {})
    let failures = 3
    const whole = store
    store = {
      ...whole,
      get reader() {
        if (failures > 0) {
          failures -= 1
          throw new Error('the database cannot be read')
        }
        return whole.reader
      },
      version: 0,
      write: (work) => whole.write(work),
      close: () => whole.close(),
    }
    const { accepted } = await run(webhook, () => 200)
    assert.deepEqual(
      accepted.map(({ seq }) => seq),
      [1, 2, 3, 4, 5],
    )
  })

  test('[WHK-17] that was moved or removed while it sent moves nothing any more', async () => {
    const webhook = await insertWebhook(store)
    await append(store, {})
    await run(webhook, () => {
      void store.write((writer) => writer.webhooks.restart(webhook.id, 0))
      return 410
    })
    const moved = await find(webhook.id)
    assert.equal(moved.disabledAt, null)
    assert.equal(moved.generation, 2)
    await run(moved, () => {
      void store.write((writer) => writer.webhooks.remove(webhook.id))
      return 410
    })
    assert.equal(await store.reader.webhooks.find(webhook.id), undefined)
    assert.equal((await store.reader.findChainEnd())?.seq, 1)
  })
})
