// Endpoints of a hub in one process, with its own store; receivers are functions.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { openAdmin } from '../../../test/support/told-admin.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import {
  createFakeReceiver,
  type FakeReceiver,
  insertWebhook,
} from '../../../test/support/webhook-samples.ts'
import { systemClock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import type { WebhookId } from '../../protocol/identifiers.ts'
import type { Store } from '../store/store.ts'
import { append, insertAgent } from '../../../test/store/store-samples.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { countBacklog } from '../service/webhooks/count-backlog.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

describe('webhooks', () => {
  let directory: string
  let store: Store
  let receivers: Map<string, FakeReceiver>
  let logText: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'webhooks-'))
    store = await openStore()
    receivers = new Map()
    logText = ''
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  const dataKey = new Secret(randomBytes(32))
  const openStore = (): Promise<Store> =>
    openSqliteStore({ path: join(directory, 'db.enc'), dataKey, createIfMissing: true })

  /** Sends until the end of the scope. */
  function start(): Webhooks & AsyncDisposable {
    const stop = new AbortController()
    const destination = { write: (line: string) => void (logText += line) }
    const logging = createLogging({
      filter: { levelOf: () => 'trace' },
      format: 'json',
      destination,
    })
    const webhooks = createWebhooks({
      store,
      clock: systemClock,
      log: logging.forModule('hub.webhook'),
      random: () => 0,
      source: { hostname: 'hub', version: '1' },
      consoleUrl: undefined,
      openSyslog: () => assert.fail(),
      openMail: () => assert.fail(),
      openConnection: (url) => {
        const receiver = receivers.get(url.hostname)
        assert.ok(receiver, `nobody is ${url.hostname}`)
        return receiver.open()
      },
    })
    const done = webhooks.run(stop.signal)
    return {
      ...webhooks,
      [Symbol.asyncDispose]: async () => {
        stop.abort()
        await done
      },
    }
  }

  async function receive(
    hostname: string,
    receiver: FakeReceiver = createFakeReceiver(),
    types: string[] = [],
  ): Promise<FakeReceiver & { readonly webhookId: WebhookId }> {
    receivers.set(hostname, receiver)
    const { id } = await insertWebhook(store, { url: `https://${hostname}/in/path-secret`, types })
    return { ...receiver, webhookId: id }
  }

  const seqsOf = ({ accepted }: FakeReceiver): number[] => accepted.map(({ seq }) => seq)
  const until = (receiver: FakeReceiver, seqs: number[]): Promise<true> =>
    waitUntil(`${seqs.join()} and not ${seqsOf(receiver).join()}`, () =>
      seqsOf(receiver).join() === seqs.join() ? true : undefined,
    )

  const untilNoted = (id: WebhookId, seq: number): Promise<true> =>
    waitUntil(`${seq} to be noted`, async () => {
      const webhook = await store.reader.webhooks.find(id)
      return webhook?.progress.cursorSeq === seq ? true : undefined
    })
  const listBacklogs = async (): Promise<number[]> =>
    Promise.all(
      (await store.reader.webhooks.list()).map((webhook) => countBacklog(store.reader, webhook)),
    )

  test('[WHK-1] [WHK-6] every entry goes to every endpoint of its type, in order', async () => {
    const all = await receive('all.example')
    const some = await receive('some.example', undefined, ['b', 'c'])
    await using _ = start()
    for (const eventType of ['a', 'b', 'a', 'c', 'webhook_dead', 'b']) {
      await append(store, { eventType })
    }
    await until(all, [1, 2, 3, 4, 6])
    await until(some, [2, 4, 6])
    assert.deepEqual(
      some.accepted.map(({ type }) => type),
      ['b', 'c', 'b'],
    )
    await append(store, { eventType: 'c' })
    await until(some, [2, 4, 6, 7])
    await until(all, [1, 2, 3, 4, 6, 7])
    await waitUntil('nothing to wait', async () =>
      (await listBacklogs()).every((backlog) => backlog === 0) ? true : undefined,
    )
  })

  test('[WHK-1] one whose types are rare passes the others over, and is not behind', async () => {
    const rare = await receive('rare.example', undefined, ['rare'])
    await using _ = start()
    for (let count = 0; count < 5; count += 1) await append(store, { eventType: 'other' })
    await untilNoted(rare.webhookId, 5)
    await append(store, { eventType: 'rare' })
    await append(store, { eventType: 'other' })
    await until(rare, [6])
    await untilNoted(rare.webhookId, 7)
  })

  test('[WHK-2] an event names the host that sent it', async () => {
    const bodies: string[] = []
    const post = async ({ body }: { body: string }) => {
      bodies.push(body)
      return { status: 200, retryAfter: undefined }
    }
    await receive('one.example', {
      ...createFakeReceiver(),
      open: () => ({ post, close: () => Promise.resolve() }),
    })
    const agent = await insertAgent(store, 'web-1')
    await append(store, { agentId: agent.id, eventType: 'a' })
    await append(store, { eventType: 'b' })
    await using _ = start()
    await waitUntil('both', () => (bodies.length === 2 ? true : undefined))
    const hosts = bodies.map((body) => (JSON.parse(body) as { data: { hostname: string } }).data)
    assert.deepEqual(
      hosts.map(({ hostname }) => hostname),
      ['web-1', null],
    )
  })

  test('[WHK-3] [WHK-5] what was not noted as sent is sent again under the same ids', async () => {
    const one = await receive('one.example')
    for (let count = 0; count < 20; count += 1) await append(store, {})
    const { progress } = (await store.reader.webhooks.find(one.webhookId)) ?? assert.fail()
    {
      await using _ = start()
      await waitUntil('all of them', () => (one.accepted.length === 20 ? true : undefined))
    }
    // As a crash would have left it.
    await store.write((writer) => writer.webhooks.setProgress(one.webhookId, 1, progress))
    await using _ = start()
    await waitUntil('all again', () => (one.accepted.length === 40 ? true : undefined))
    assert.deepEqual(one.accepted.slice(20), one.accepted.slice(0, 20))
    assert.equal(new Set(one.accepted.map(({ id }) => id)).size, 20)
  })

  test('[WHK-5] what was noted as sent is not sent again by the next start', async () => {
    const one = await receive('one.example')
    await append(store, {})
    {
      await using _ = start()
      await until(one, [1])
    }
    await store.close()
    store = await openStore()
    await using _ = start()
    await append(store, {})
    await until(one, [1, 2])
  })

  test('[WHK-5] an entry is sent although the log could not be read when it came', async () => {
    const one = await receive('one.example')
    const whole = store
    let isFailing = false
    let failures = 0
    const reader = new Proxy(whole.reader, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property)
        if (property === 'findChainEnd' && isFailing) {
          return async () => {
            failures += 1
            throw new Error('disk I/O error')
          }
        }
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    store = {
      reader,
      get version() {
        return whole.version
      },
      versionOf: (id) => whole.versionOf(id),
      write: (work) => whole.write(work),
      close: () => whole.close(),
    }
    await using _ = start()
    await append(store, {})
    await until(one, [1])
    // From then on nothing but the next entry is a reason to read the log.
    await untilNoted(one.webhookId, 1)
    isFailing = true
    await append(store, {})
    const before = failures
    await waitUntil('the failure', () => (failures > before ? true : undefined))
    isFailing = false
    await until(one, [1, 2])
  })

  test('[WHK-10] one that hangs, and one that refuses, hold up nobody', async () => {
    const hangs = await receive(
      'hangs.example',
      createFakeReceiver(() => 'hang'),
    )
    const refuses = await receive(
      'refuses.example',
      createFakeReceiver(() => 'refuse'),
    )
    const fine = await receive('fine.example')
    await using _ = start()
    for (let count = 0; count < 50; count += 1) await append(store, {})
    await until(
      fine,
      Array.from({ length: 50 }, (_value, index) => index + 1),
    )
    assert.equal(hangs.attempts.length, 1)
    await waitUntil('a second try', () => (refuses.attempts.length > 1 ? true : undefined))
    assert.deepEqual(new Set(refuses.attempts.map(({ seq }) => seq)), new Set([1]))
    assert.deepEqual((await listBacklogs()).slice(0, 2), [50, 50])
  })

  test('[WHK-7] a message that fails is tried again before the next one', async () => {
    const shaky = await receive(
      'shaky.example',
      createFakeReceiver((_message, attempt) => (attempt % 2 === 1 ? 500 : 200)),
    )
    for (let count = 0; count < 3; count += 1) await append(store, {})
    await using _ = start()
    await until(shaky, [1, 2, 3])
    assert.deepEqual(
      shaky.attempts.map(({ seq }) => seq),
      [1, 1, 2, 2, 3, 3],
    )
    const { progress } = (await store.reader.webhooks.find(shaky.webhookId)) ?? assert.fail()
    assert.equal(progress.lastError, 'answered 500')
  })

  test('[WHK-9] [WHK-11] 410 ends it, which is recorded, and a replay begins it again', async () => {
    const answers = { status: 410 }
    const gone = await receive(
      'gone.example',
      createFakeReceiver(() => answers.status),
    )
    await append(store, {})
    await using webhooks = start()
    const disabled = await waitUntil('the end', async () => {
      const entries = await store.reader.listEntries({
        afterSeq: 0,
        limit: 10,
        eventType: 'webhook_disabled',
      })
      return entries[0]
    })
    assert.deepEqual(JSON.parse(disabled.payloadText), {
      actor: 'hub',
      webhook_id: gone.webhookId,
      origin: 'https://gone.example',
      erro: 'answered 410 Gone',
    })
    await append(store, {})
    await webhooks.changed()
    assert.equal(gone.attempts.length, 1)
    answers.status = 200
    await openAdmin(store).admin.replayWebhook({ webhook: gone.webhookId })
    await webhooks.changed()
    await until(gone, [1, 2, 3, 4])
  })

  test('[WHK-11] a replay sends again from an entry or a time on, under the same ids', async () => {
    const one = await receive('one.example')
    for (const minute of [1, 2, 3]) {
      await append(store, { at: new Date(`2026-11-21T10:0${minute}:00Z`) })
    }
    await using webhooks = start()
    await until(one, [1, 2, 3])
    const replay = async (from: object): Promise<void> => {
      await waitUntil('what is sent to be noted', async () => {
        const webhook = await store.reader.webhooks.find(one.webhookId)
        return webhook?.progress.cursorSeq === one.accepted.at(-1)?.seq || undefined
      })
      await openAdmin(store).admin.replayWebhook({ webhook: one.webhookId, ...from })
      await webhooks.changed()
    }
    await replay({ seq: 2 })
    await until(one, [1, 2, 3, 2, 3, 4])
    await replay({ since: '2026-11-21T10:02:30Z' })
    await until(one, [1, 2, 3, 2, 3, 4, 3, 4, 5])
    const ids = new Set(one.accepted.map(({ id, seq }) => `${seq} ${id}`))
    assert.equal(ids.size, 5)
    await assert.rejects(replay({ seq: 99 }), { code: 'replay_ahead' })
    await assert.rejects(replay({ since: '2099-01-01T00:00:00Z' }), { code: 'replay_ahead' })
    await assert.rejects(replay({ since: '1' }), { code: 'time_invalid' })
    await assert.rejects(replay({ seq: 1, dead: true }), { code: 'usage' })
  })

  test('[WHK-11] dead messages are tried once each, before the others', async () => {
    const one = await receive(
      'one.example',
      createFakeReceiver(({ seq }) => (seq === 2 ? 500 : 200)),
    )
    for (let count = 0; count < 4; count += 1) await append(store, {})
    const { webhookId } = one
    await store.write(async (writer) => {
      const { progress } = (await writer.webhooks.find(webhookId)) ?? assert.fail()
      await writer.webhooks.setProgress(webhookId, 1, { ...progress, cursorSeq: 3 })
      for (const seq of [1, 2, 3]) {
        const diedAt = new Date('2026-11-21T10:00:00Z')
        await writer.webhooks.insertDead({ webhookId, seq, diedAt, error: 'old' })
      }
    })
    await openAdmin(store).admin.replayWebhook({ webhook: webhookId, dead: true })
    await using _ = start()
    await until(one, [1, 3, 4, 5])
    assert.deepEqual(
      one.attempts.map(({ seq }) => seq),
      [1, 2, 3, 4, 5],
    )
    const dead = await store.reader.webhooks.listDead(webhookId)
    assert.deepEqual(
      dead.map(({ seq, error }) => [seq, error]),
      [[2, 'answered 500']],
    )
    assert.deepEqual(await store.reader.webhooks.listDeadToReplay(webhookId), [])
  })

  test('[WHK-17] one that is removed while it is sent to gets nothing more', async () => {
    const hangs = await receive(
      'hangs.example',
      createFakeReceiver(() => 'hang'),
    )
    for (let count = 0; count < 3; count += 1) await append(store, {})
    await using webhooks = start()
    await waitUntil('an attempt', () => (hangs.attempts.length === 1 ? true : undefined))
    await openAdmin(store).admin.removeWebhook({ webhook: hangs.webhookId })
    await webhooks.changed()
    assert.equal(await store.reader.webhooks.findSecret(hangs.webhookId), undefined)
    await append(store, {})
    const other = await receive('other.example')
    await webhooks.changed()
    await until(other, [1, 2, 3, 4, 5])
    assert.equal(hangs.attempts.length, 1)
    assert.deepEqual(
      (await store.reader.webhooks.list()).map(({ id }) => id),
      [other.webhookId],
    )
  })

  test('[WHK-12] a test goes past what waits, moves nothing, and finds none that is gone', async () => {
    const one = await receive(
      'one.example',
      createFakeReceiver(({ type }) => (type === 'webhook_test' ? 202 : 500)),
    )
    await append(store, {})
    await using webhooks = start()
    await waitUntil('a failure', () => (one.attempts.length > 0 ? true : undefined))
    const webhook = (await store.reader.webhooks.find(one.webhookId)) ?? assert.fail()
    const { ok, status, error } = await webhooks.test(webhook)
    assert.deepEqual({ ok, status, error }, { ok: true, status: 202, error: null })
    assert.deepEqual(
      one.accepted.map(({ type }) => type),
      ['webhook_test'],
    )
    assert.equal((await store.reader.webhooks.find(one.webhookId))?.progress.cursorSeq, 0)
    assert.equal((await store.reader.findChainEnd())?.seq, 1)
    await store.write((writer) => writer.webhooks.remove(webhook.id))
    await assert.rejects(webhooks.test(webhook), { code: 'webhook_not_found' })
  })

  test('[WHK-16] neither the secret nor the path of a URL is in the log', async () => {
    const gone = await receive(
      'gone.example',
      createFakeReceiver((_message, attempt) => [500, 200, 410][attempt - 1] ?? 200),
    )
    await Promise.all([append(store, {}), append(store, {})])
    await using _ = start()
    await waitUntil('the end', async () => {
      const webhook = await store.reader.webhooks.find(gone.webhookId)
      return webhook?.disabledAt ?? undefined
    })
    assert.match(logText, /Webhook delivered/)
    assert.match(logText, /Webhook failed/)
    assert.doesNotMatch(logText, /path-secret|whsec_|MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/)
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 10 })
    assert.doesNotMatch(JSON.stringify(entries), /path-secret|whsec_/)
  })

  test('[WHK-6] [WHK-10] a hundred endpoints each get all of it', { timeout: 60_000 }, async () => {
    const many: FakeReceiver[] = []
    for (let count = 0; count < 100; count += 1) many.push(await receive(`r${count}.example`))
    await using _ = start()
    const seqs = Array.from({ length: 40 }, (_value, index) => index + 1)
    for (const seq of seqs) await append(store, { eventType: `t${seq}` })
    for (const receiver of many) await until(receiver, seqs)
  })
})
