import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { createLogging } from '../../platform/logger.ts'
import { createFreeSpaceCheck } from './free-space.ts'

/** A disk and a clock that a test sets, and what was logged. */
function createBench(floorBytes: number) {
  const state = { freeBytes: 1000, nowMs: 0, measured: 0 }
  const lines: string[] = []
  const logging = createLogging({
    filter: { levelOf: () => 'info' },
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  })
  const findRoom = createFreeSpaceCheck({
    directory: '/vault',
    floorBytes,
    clock: { now: () => new Date(state.nowMs), sleep: () => Promise.resolve() },
    log: logging.forModule('hub.disk'),
    measure: () => {
      state.measured += 1
      return Promise.resolve(state.freeBytes)
    },
  })
  const messages = (): unknown[] =>
    lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg)
  return { state, findRoom, messages }
}

describe('[LIM-20] room that is kept back', () => {
  test('[LIM-41] is missed below the floor, and not at it; half of it is a reserve', async () => {
    const { state, findRoom } = createBench(1000)
    for (const [freeBytes, room] of [
      [1000, 'enough'],
      [999, 'reserve'],
      [500, 'reserve'],
      [499, 'none'],
      [0, 'none'],
      [1000, 'enough'],
    ] as const) {
      state.nowMs += 1000
      state.freeBytes = freeBytes
      assert.equal(await findRoom(), room)
    }
  })

  test('is asked for at most once a second, also of many at once and after the clock was put back', async () => {
    const { state, findRoom } = createBench(1000)
    await Promise.all(Array.from({ length: 50 }, () => findRoom()))
    state.freeBytes = 0
    state.nowMs += 999
    assert.equal(await findRoom(), 'enough')
    assert.equal(state.measured, 1)
    state.nowMs += 1
    assert.equal(await findRoom(), 'none')
    state.freeBytes = 1000
    state.nowMs -= 3_600_000
    assert.equal(await findRoom(), 'enough')
    assert.equal(state.measured, 3)
  })

  test('is logged once when it is gone and once when it is back', async () => {
    const { state, findRoom, messages } = createBench(1000)
    for (const freeBytes of [1000, 1, 2, 3, 1000, 2000, 900, 800, 4, 700]) {
      state.freeBytes = freeBytes
      state.nowMs += 1000
      await findRoom()
    }
    assert.deepEqual(messages(), [
      'Disk nearly full, the hub refuses events',
      'Disk has room again, the hub takes events',
      'Disk nearly full, each agent has a little room for events',
      'Disk nearly full, the hub refuses events',
      'Disk nearly full, each agent has a little room for events',
    ])
  })

  test('[LIM-14] is not asked for when the limit is lifted', async () => {
    const { state, findRoom } = createBench(Number.POSITIVE_INFINITY)
    state.freeBytes = 0
    assert.equal(await findRoom(), 'enough')
    assert.equal(state.measured, 0)
  })

  test('is what the file system says, and enough where it says nothing', async () => {
    const { log, clock } = {
      log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('x'),
      clock: { now: () => new Date(0), sleep: () => Promise.resolve() },
    }
    const check = (directory: string): Promise<string> =>
      createFreeSpaceCheck({ directory, floorBytes: Number.MAX_SAFE_INTEGER, clock, log })()
    assert.equal(await check(tmpdir()), 'none')
    assert.equal(await check('/no/such/place'), 'enough')
  })
})
