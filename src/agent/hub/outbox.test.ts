import assert from 'node:assert/strict'
import { promises } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errnoCode } from '../../platform/errors.ts'
import { createLogging } from '../../platform/logger.ts'
import type { EventRequestBody } from '../../protocol/schemas.ts'
import type { HubClient } from './client.ts'
import { HubUnreachableError } from './request.ts'
import { openOutbox, type Outbox } from './outbox.ts'

const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

/** Records by `request_id` as a hub does; each answer of the plan is used once, then all goes well. */
class FakeEventLog implements Pick<HubClient, 'sendEvent'> {
  readonly recorded: EventRequestBody[] = []
  readonly plan: ('lost-request' | 'lost-reply' | number | readonly [number, string])[] = []

  async sendEvent(event: EventRequestBody): ReturnType<HubClient['sendEvent']> {
    const next = this.plan.shift()
    if (next === 'lost-request') throw new HubUnreachableError('cut')
    if (typeof next === 'number') return { ok: false, status: next, code: 'unknown' }
    if (typeof next === 'object') return { ok: false, status: next[0], code: next[1] }
    if (!this.recorded.some(({ request_id: id }) => id === event.request_id))
      this.recorded.push(event)
    if (next === 'lost-reply') throw new HubUnreachableError('cut')
    return { ok: true, value: { entryId: '', hash: '' }, hubTime: undefined }
  }

  get types(): string[] {
    return this.recorded.map(({ tipo_evento: type }) => type)
  }
}

const REQUEST_ID = '11111111-1111-4111-8111-111111111111'

/** A disk on which reading this one file or directory fails. */
async function whileUnreadable<Value>(
  path: string,
  code: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const { readFile, readdir: list } = promises
  const failFor =
    (read: (path: string, options?: 'utf8') => Promise<unknown>) =>
    (asked: string, options?: 'utf8'): Promise<unknown> =>
      asked === path
        ? Promise.reject(Object.assign(new Error(code), { code }))
        : read(asked, options)
  Object.assign(promises, {
    readFile: failFor(readFile as Parameters<typeof failFor>[0]),
    readdir: failFor(list as Parameters<typeof failFor>[0]),
  })
  syncBuiltinESMExports()
  try {
    return await work()
  } finally {
    Object.assign(promises, { readFile, readdir: list })
    syncBuiltinESMExports()
  }
}

async function withOutbox(
  work: (directory: string, outbox: Outbox, hub: FakeEventLog) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'outbox-'))
  try {
    await work(directory, await openOutbox(directory, log), new FakeEventLog())
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function enqueueAll(outbox: Outbox, ...types: string[]): Promise<void> {
  for (const type of types) await outbox.enqueue({ type, payload: {} })
}

describe('the outbox', () => {
  test('[AGT-28] delivers each event once and in order, however often requests and replies are lost', () =>
    withOutbox(async (directory, outbox, hub) => {
      await enqueueAll(outbox, 'a', 'b', 'c')
      hub.plan.push('lost-request', 'lost-reply', 503, 'lost-reply', 429, 401, 408)
      let current = outbox
      for (let round = 0; round < 10; round += 1) {
        await current.flush(hub)
        current = await openOutbox(directory, log)
      }
      assert.deepEqual(hub.types, ['a', 'b', 'c'])
      assert.deepEqual(current.listWaiting(), [])
    }))

  test('[CHN-34] tells of each event that is recorded before it forgets it', () =>
    withOutbox(async (directory) => {
      const told: unknown[] = []
      const hub = new FakeEventLog()
      const outbox = await openOutbox(directory, log, async (event) => {
        told.push([event, (await readdir(directory)).length])
      })
      await outbox.enqueue({ type: 'a', payload: {} }, REQUEST_ID)
      hub.plan.push('lost-reply')
      await outbox.flush(hub)
      assert.deepEqual(told, [])
      await outbox.flush(hub)
      const receipt = { entryId: '', hash: '' }
      const event = { type: 'a', deliveryId: null, requestId: REQUEST_ID, receipt }
      // Beside the directory of those that were refused.
      assert.deepEqual(told, [[event, 2]])
      assert.deepEqual(await readdir(directory), ['refused'])
    }))

  for (const refusal of [
    [400, 'request_invalid'],
    [404, 'entrega_not_found'],
    [409, 'request_id_conflict'],
    [413, 'body_too_large'],
  ] as const) {
    test(`[AGT-28] sets an event aside that is refused with ${refusal[1]}, and sends those behind it`, () =>
      withOutbox(async (directory, outbox, hub) => {
        await enqueueAll(outbox, 'bad', 'good')
        hub.plan.push(refusal)
        assert.equal(await outbox.flush(hub), 'empty')
        assert.deepEqual(hub.types, ['good'])
        assert.equal((await readdir(join(directory, 'refused'))).length, 1)
      }))
  }

  test('[AGT-28] sends on when the disk failed in the middle of setting an event aside', () =>
    withOutbox(async (directory, outbox, hub) => {
      await enqueueAll(outbox, 'bad', 'good')
      const refused = join(directory, 'refused')
      hub.plan.push([404, 'entrega_not_found'], [404, 'entrega_not_found'])
      await assert.rejects(
        whileUnreadable(refused, 'EIO', () => outbox.flush(hub)),
        { code: 'EIO' },
      )
      assert.equal(await outbox.flush(hub), 'empty')
      assert.deepEqual([hub.types, (await readdir(refused)).length], [['good'], 1])
    }))

  for (const [status, code] of [
    [403, 'unknown'],
    [404, 'route_not_found'],
    [405, 'method_not_allowed'],
    [415, 'unsupported_media_type'],
  ] as const) {
    test(`[AGT-28] keeps an event that a proxy, or a wrong URL, answered with ${status} ${code}`, () =>
      withOutbox(async (_directory, outbox, hub) => {
        await enqueueAll(outbox, 'kept')
        hub.plan.push([status, code])
        assert.notEqual(await outbox.flush(hub), 'empty')
        assert.equal(outbox.listWaiting().length, 1)
        assert.equal(await outbox.flush(hub), 'empty')
        assert.deepEqual(hub.types, ['kept'])
      }))
  }

  test('takes the same request_id once while it waits', () =>
    withOutbox(async (_directory, outbox) => {
      const requestId = '11111111-1111-4111-8111-111111111111'
      await outbox.enqueue({ type: 'a', payload: {} }, requestId)
      await outbox.enqueue({ type: 'a', payload: {} }, requestId)
      assert.equal(outbox.listWaiting().length, 1)
    }))

  for (const code of ['EIO', 'EMFILE', 'EACCES']) {
    test(`[AGT-28] keeps an event that cannot be read for ${code}, and those behind it behind it`, () =>
      withOutbox(async (directory, outbox, hub) => {
        await outbox.enqueue({ type: 'a', payload: {} }, REQUEST_ID)
        await enqueueAll(outbox, 'b')
        const [first = ''] = await readdir(directory)
        const reopened = await whileUnreadable(join(directory, first), code, async () => {
          const opened = await openOutbox(directory, log)
          const obstacle = await opened.flush(hub)
          assert.equal(errnoCode(obstacle), code)
          return opened
        })
        assert.deepEqual([hub.types, reopened.listWaiting().length], [[], 2])
        await reopened.enqueue({ type: 'a', payload: {} }, REQUEST_ID)
        assert.equal(await reopened.flush(hub), 'empty')
        assert.deepEqual(hub.types, ['a', 'b'])
        assert.deepEqual(await readdir(join(directory, 'refused')), [])
      }))
  }

  test('sets a damaged file aside when it could not be read before', () =>
    withOutbox(async (directory, outbox, hub) => {
      await enqueueAll(outbox, 'a', 'b')
      const [first = ''] = await readdir(directory)
      const path = join(directory, first)
      await writeFile(path, '{"tipo')
      const reopened = await whileUnreadable(path, 'EIO', () => openOutbox(directory, log))
      assert.equal(await reopened.flush(hub), 'empty')
      assert.deepEqual([hub.types, await readdir(join(directory, 'refused'))], [['b'], [first]])
    }))

  test('sets an unreadable file aside and forgets what a crash left half written', () =>
    withOutbox(async (directory, outbox, hub) => {
      await enqueueAll(outbox, 'a')
      await writeFile(
        join(directory, '000000000000-22222222-2222-4222-8222-222222222222.json'),
        '{"tipo',
      )
      await writeFile(join(directory, '.x.tmp'), 'half')
      const reopened = await openOutbox(directory, log)
      assert.equal(await reopened.flush(hub), 'empty')
      assert.deepEqual(hub.types, ['a'])
      assert.deepEqual(await readdir(directory), ['refused'])
    }))
})
