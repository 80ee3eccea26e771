import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { MemoryImages } from '../../../test/fakes/memory-images.ts'
import { appendOne, fillLog, ImageRig } from '../../../test/support/journal-images.ts'
import { openSharingStores } from '../../../test/support/temporary-store.ts'
import { createLogging } from '../../platform/logger.ts'
import { createImageKeeper, isImageDue } from './keep-images.ts'

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000
const PACE = {
  bytesPerSecondMax: 16 * MIB,
  bytesPerSecondMin: MIB,
  graceMs: 30_000,
  heldBytesMax: 256 * MIB,
}

test('[JRN-9] an image is due when the records since the newest weigh much, or it is old', () => {
  const newest = { number: 5, bytes: 100 * MIB, ageMs: 0 }
  const of = (recordBytesSince: number, more: Partial<typeof newest> = {}) =>
    isImageDue({ end: 6, newest: { ...newest, ...more }, recordsSince: 1, recordBytesSince })
  assert.equal(
    isImageDue({ end: 0, newest: undefined, recordsSince: 0, recordBytesSince: 0 }),
    true,
  )
  assert.equal(of(64 * MIB), false)
  assert.equal(of(64 * MIB + 1), true)
  assert.equal(of(64 * MIB + 1, { bytes: 200 * MIB }), false)
  assert.equal(of(100 * MIB + 1, { bytes: 200 * MIB }), true)
  assert.equal(of(1, { ageMs: 24 * HOUR_MS - 1 }), false)
  assert.equal(of(1, { ageMs: 24 * HOUR_MS }), true)
  const none = { end: 5, recordsSince: 0, recordBytesSince: 0 }
  assert.equal(isImageDue({ ...none, newest: { ...newest, ageMs: 99 * HOUR_MS } }), false)
})

describe('the images that a hub keeps in its journal', () => {
  let rig: ImageRig
  let images: MemoryImages
  let log: string
  beforeEach(async () => {
    const stores = await openSharingStores(1)
    images = stores.journal.images
    rig = new ImageRig(stores, images, () => stores.journal)
    log = ''
    nowMs = 0
  })
  afterEach(() => rig.stores[Symbol.asyncDispose]())

  let nowMs = 0
  /** A hub that looks by its clock, which goes on when it waits, and is stopped at that hour. */
  async function runUntil(hour: number, options: { pace?: Partial<typeof PACE> } = {}) {
    const stop = new AbortController()
    const clock = {
      now: () => new Date(nowMs),
      sleep: async (durationMs: number) => {
        nowMs += durationMs
        images.nowMs = nowMs
        if (nowMs >= hour * HOUR_MS) stop.abort()
      },
    }
    const logging = createLogging({
      filter: { levelOf: () => 'info' },
      format: 'json',
      destination: {
        write: (line) => {
          log += line
        },
      },
    })
    const { store, seal } = rig
    const keeper = createImageKeeper({
      store,
      images,
      seal,
      clock,
      random: () => 0.5,
      log: logging.forModule('test'),
      pace: { ...PACE, ...options.pace },
    })
    await keeper.run(stop.signal)
    return keeper.look()?.size
  }
  const places = () => images.stored.map(({ position }) => position.number)
  const messages = () => [...log.matchAll(/"msg":"(Image[^"]*)"/g)].map(([, message]) => message)

  test('[JRN-9] [JRN-10] are made once, then when they are a day old, and the oldest go', async () => {
    await appendOne(rig.store)
    await runUntil(20)
    assert.deepEqual(places(), [1])
    await runUntil(50)
    assert.deepEqual(places(), [1], 'without a record there is none to make')
    for (const hour of [51, 76, 101]) {
      await appendOne(rig.store)
      await runUntil(hour)
    }
    assert.deepEqual(places(), [3, 4])
    assert.equal(rig.stores.journal.records[0]?.number, 3)
    assert.deepEqual(
      messages(),
      Array.from({ length: 4 }, () => 'Image of the vault made'),
    )
    await rig.assertJoins()
  })

  test('[JRN-9] say what there is', async () => {
    await appendOne(rig.store)
    const size = await runUntil(1)
    assert.ok(size?.newest)
    assert.equal(size.newest.number, 1)
    assert.equal(size.recordsSince, 0)
  })

  test('[JRN-8] are as slow as a backup', async () => {
    await fillLog(rig.store, 4 * MIB)
    await runUntil(0.01, { pace: { bytesPerSecondMax: 2 * MIB } })
    const [made] = images.stored
    assert.ok(made)
    assert.ok(made.bytes > 4 * MIB)
    assert.equal(made.madeAtMs, (made.pieces.length / 2) * 1000)
    images.stored.length = 0
    await runUntil(0.1, { pace: { bytesPerSecondMax: MIB / 100 } })
    assert.deepEqual(await images.list(), [])
    assert.match(log, /the image: the reader took 20971 bytes a second, fewer than 1048576/)
  })

  test('[JRN-8] are given up when they hold up too much, and tried again later', async () => {
    await fillLog(rig.store, 2 * MIB)
    images.piecesLeft = 1
    await runUntil(0.3)
    assert.deepEqual(await images.list(), [])
    const failed = 'Image of the vault not made, tried again'
    assert.ok(messages().includes(failed))
    const before = messages().length
    assert.equal(before, 2, 'at once and after 15 minutes')
    images.piecesLeft = Number.POSITIVE_INFINITY
    await runUntil(1)
    assert.equal((await images.list()).length, 1)
    images.stored.length = 0
    await runUntil(1.2, { pace: { heldBytesMax: -1 } })
    assert.deepEqual(await images.list(), [])
    assert.match(log, /the image: the vault wrote 0 bytes while it was copied, more than -1/)
  })

  test('[JRN-8] are not made of a vault that has left its journal', async () => {
    await appendOne(rig.store)
    rig.stores.journal.records.pop()
    await runUntil(0.2)
    assert.deepEqual(images.stored, [])
    assert.match(log, /the journal lost records: this vault has followed 1, the journal has 0/)
  })
})
