import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import { isSilent, nextWatch, type SilenceWatch } from './silent-host.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-11-21T10:00:00Z')
const SILENT_MS = 48 * HOUR_MS
const at = (hours: number): Date => new Date(START + hours * HOUR_MS)
const watching = (since: number, heardAt: number): SilenceWatch => ({
  since: at(since),
  heardAt: at(heardAt),
})
const step = (watch: SilenceWatch | null, heardAt: number | undefined, now = heardAt ?? 0) =>
  nextWatch(watch, heardAt === undefined ? undefined : at(heardAt), {
    now: at(now),
    silentMs: SILENT_MS,
  })

describe('[JNR-14] what a hub knows of its own hearing', () => {
  test('begins with the first that it hears, and goes on with each later one', () => {
    assert.deepEqual(step(null, undefined), null)
    assert.deepEqual(step(null, 1), watching(1, 1))
    assert.deepEqual(step(watching(1, 1), 2), watching(1, 2))
    assert.deepEqual(step(watching(1, 2), undefined, 3), watching(1, 2))
    assert.deepEqual(step(watching(1, 2), 2, 3), watching(1, 2))
  })

  test('begins anew after a quarter of the time without a word from anybody', () => {
    assert.deepEqual(step(watching(0, 10), 22), watching(0, 22))
    assert.deepEqual(step(watching(0, 10), 22.1), watching(22.1, 22.1))
  })

  test('begins anew when somebody has set the clock back, and takes nothing from the future', () => {
    assert.deepEqual(step(watching(0, 100), 5, 5), watching(5, 5))
    assert.deepEqual(step(watching(0, 4), 900, 5), watching(0, 5))
    assert.deepEqual(step(null, 900, 5), watching(5, 5))
  })
})

describe('[JNR-14] a host is silent', () => {
  test('when the hub heard others for that long, and not the host', () => {
    assert.equal(isSilent(at(0), watching(0, 48), SILENT_MS), true)
    assert.equal(isSilent(at(0), watching(0, 47.9), SILENT_MS), false)
    assert.equal(isSilent(at(1), watching(0, 48), SILENT_MS), false)
  })

  test('never of a time from before the hub began to listen', () => {
    assert.equal(isSilent(at(-1000), watching(0, 47), SILENT_MS), false)
    assert.equal(isSilent(at(-1000), watching(0, 48), SILENT_MS), true)
  })

  test('a host that polls whenever the hub can hear it is never silent, whatever happens to hub and clock', () => {
    const events = fc.array(
      fc.record({
        /** How long until then, and how much of it the clock jumps besides. */
        hours: fc.double({ min: 0.02, max: 200, noNaN: true }),
        jump: fc.oneof(
          { weight: 5, arbitrary: fc.constant(0) },
          fc.integer({ min: -500, max: 500 }),
        ),
        isDeaf: fc.boolean(),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(events, (all) => {
        let now = START
        let watch: SilenceWatch | null = null
        let lastPoll = new Date(now)
        let heard: Date | undefined
        for (const { hours, jump, isDeaf } of all) {
          now += (hours + jump) * HOUR_MS
          // Others come back first, a moment before this host does.
          if (!isDeaf) heard = new Date(now)
          watch = nextWatch(watch, heard, { now: new Date(now), silentMs: SILENT_MS })
          if (watch !== null) assert.ok(!isSilent(lastPoll, watch, SILENT_MS))
          if (!isDeaf) lastPoll = new Date(now)
        }
      }),
      propertyRuns(2000),
    )
  })
})
