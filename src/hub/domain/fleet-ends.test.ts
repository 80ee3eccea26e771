import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  describeEnds,
  END_HORIZONS,
  type EndCount,
  type EndHorizon,
  endsUntilMs,
  findCommonState,
  QUARTER_MS,
} from './fleet-ends.ts'
import { decideState } from './late-renewal.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.parse('2026-11-21T10:20:00Z')
const START_MS = Date.parse('2026-11-21T10:00:00Z')
const RULE = { nowMs: NOW_MS, thresholdMs: 6 * HOUR_MS }

describe('[OVW-3] the state of a certificate', () => {
  const cases = [
    ['expired', NOW_MS],
    ['late', NOW_MS + 1],
    ['late', NOW_MS + 3 * HOUR_MS],
    ['renewing', NOW_MS + 3 * HOUR_MS + 1],
    ['renewing', NOW_MS + 6 * HOUR_MS],
    ['fresh', NOW_MS + 6 * HOUR_MS + 1],
  ] as const
  for (const [state, notAfterMs] of cases) {
    test(`${state} when it ends ${(notAfterMs - NOW_MS) / HOUR_MS} h from now`, () => {
      assert.equal(decideState({ notAfterMs, windowMs: 6 * HOUR_MS }, NOW_MS), state)
    })
  }

  test('is that of its whole group, unless the group is where one state ends', () => {
    const stateAt = (quarterMs: number) => findCommonState({ quarterMs, lifeMinutes: 1440 }, RULE)
    const quarters = [-1, 0, 1, 12, 13, 14, 24, 25, 26]
    assert.deepEqual(
      quarters.map((at) => stateAt(NOW_MS - 5 * 60_000 + at * QUARTER_MS)),
      [
        'expired',
        undefined,
        'late',
        undefined,
        'renewing',
        'renewing',
        undefined,
        'fresh',
        'fresh',
      ],
    )
  })

  test('of a short life depends on the life, whatever the threshold is', () => {
    const quarterMs = START_MS + 2 * HOUR_MS
    const stateOf = (lifeMinutes: number) => findCommonState({ quarterMs, lifeMinutes }, RULE)
    assert.deepEqual([stateOf(60), stateOf(480), stateOf(1440)], ['fresh', 'renewing', 'late'])
  })
})

describe('[OVW-3] the ends of a fleet', () => {
  const at = (
    fromStartMs: number,
    state: EndCount['state'],
    count: number,
    lifeMinutes = 1440,
  ) => ({
    quarterMs: START_MS + fromStartMs,
    lifeMinutes,
    state,
    count,
  })

  test('fall into the bucket that they are in; the first one has begun before now', () => {
    const counts = [
      at(-9 * HOUR_MS, 'expired', 1),
      at(0, 'expired', 2),
      at(0, 'late', 3),
      at(QUARTER_MS, 'late', 4),
      at(2 * QUARTER_MS, 'renewing', 5),
      at(400 * HOUR_MS, 'fresh', 6),
    ]
    const { startMs, bucketMs, buckets, totals } = describeEnds(counts, '48h', RULE)
    assert.deepEqual([startMs, bucketMs, buckets.length], [START_MS, 1_800_000, 97])
    const [first, second] = buckets
    assert.deepEqual(first, { expired: 2, late: 7, renewing: 0, fresh: 0, renewals: 5 })
    assert.deepEqual(second, { expired: 0, late: 0, renewing: 5, fresh: 0, renewals: 0 })
    assert.deepEqual(totals, { expired: 3, late: 7, renewing: 5, fresh: 6 })
  })

  test('have their renewals when the threshold, or a third of the life, is left', () => {
    const renewals = (count: EndCount): [number, number][] =>
      describeEnds([count], '48h', RULE).buckets.flatMap(({ renewals: some }, index) =>
        some === 0 ? [] : [[index, some] as [number, number]],
      )
    assert.deepEqual(renewals(at(10 * HOUR_MS, 'fresh', 7)), [[8, 7]])
    // A third of six hours.
    assert.deepEqual(renewals(at(10 * HOUR_MS, 'fresh', 7, 360)), [[16, 7]])
    // It ends after the last bucket.
    assert.deepEqual(renewals(at(50 * HOUR_MS, 'fresh', 7)), [[88, 7]])
    assert.deepEqual(renewals(at(2 * HOUR_MS, 'late', 7)), [])
  })

  test('are at most 169 buckets, which reach beyond the horizon', () => {
    for (const horizon of Object.keys(END_HORIZONS) as EndHorizon[]) {
      const { buckets, startMs, bucketMs } = describeEnds([], horizon, RULE)
      const endMs = startMs + buckets.length * bucketMs
      assert.ok(buckets.length <= 169)
      assert.ok(endMs > NOW_MS + END_HORIZONS[horizon].hours * HOUR_MS)
      assert.equal(endsUntilMs(horizon, RULE), endMs + RULE.thresholdMs)
    }
  })
})
