import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import type { AgentId, CargoId, RolloutId } from '../../protocol/identifiers.ts'
import { countFailures, decideRollout, type RolloutVerdict } from './decide-rollout.ts'
import type { Freeze } from './freeze.ts'
import type { Rollout, RolloutCounts } from './rollout.ts'
import { HEARD_LATELY_MS, LAST_PLACE, placeOf, thresholdOf } from './rollout-order.ts'
import { advanceTimes, type RolloutWatch } from './rollout-watch.ts'

const NOW = new Date('2026-11-26T10:00:00.000Z')
const HOUR_MS = 3_600_000

/** The second of three waves, which is open, and has 100 hosts. */
const OPEN: Rollout = {
  id: 'aaaaaaaaaaaaaaaa' as RolloutId,
  subject: { kind: 'load', cargoId: 'c' as CargoId, version: 2, sans: [] },
  waves: [
    { of: 'hosts', count: 1 },
    { of: 'percent', tenths: 100 },
    { of: 'percent', tenths: 1000 },
  ],
  soakMs: 600_000,
  lateMs: HOUR_MS,
  maxFailed: { of: 'percent', tenths: 20 },
  startedBy: 'admin',
  createdAt: NOW,
  state: 'running',
  changedBy: null,
  reason: null,
  wave: 1,
  openedAt: NOW,
  wanted: 100,
  threshold: 1,
  given: 100,
  isGiven: true,
  cursor: '7',
  openMs: 0,
  soakedMs: 0,
  tolerated: 0,
  endedAt: null,
}
const ALL_DONE: RolloutCounts = {
  pending: 0,
  silent: 0,
  unprobed: 0,
  done: 100,
  failed: 0,
  declined: 0,
}
const FREEZE: Freeze = {
  id: 1,
  until: new Date(NOW.getTime() + HOUR_MS),
  why: 'Black Friday',
  setBy: 'admin',
  setAt: NOW,
  endedAt: null,
}

function decide(
  changes: Partial<Rollout>,
  counts: Partial<RolloutCounts> = {},
  freeze?: Freeze,
): RolloutVerdict {
  const rollout = { ...OPEN, ...changes }
  return decideRollout({ rollout, counts: { ...ALL_DONE, ...counts }, freeze, now: NOW })
}

const SOAKED = { soakedMs: 600_000 }

describe('[RLO-7] the next wave', () => {
  test('opens when each host is done and the wave has soaked, not before', () => {
    assert.deepEqual(decide(SOAKED), { next: 'open wave', wave: 2 })
    assert.deepEqual(decide({ soakedMs: 599_000 }), {
      next: 'wait',
      why: 'the wave soaks for another 1 s',
      isSoaking: true,
    })
    assert.deepEqual(decide(SOAKED, { pending: 1, done: 99 }), {
      next: 'wait',
      why: 'it waits for 1 host to install it',
      isSoaking: false,
    })
    assert.deepEqual(decide(SOAKED, { pending: 2, unprobed: 1, done: 97 }), {
      next: 'wait',
      why: 'it waits for 2 hosts to install it, and for 1 host to report its targets',
      isSoaking: false,
    })
  })

  test('is counted first, then given, and after the last one the carga has the version', () => {
    assert.deepEqual(decide({ threshold: null, ...SOAKED }), { next: 'open wave', wave: 1 })
    assert.deepEqual(decide({ isGiven: false, ...SOAKED }), { next: 'give' })
    assert.deepEqual(decide({ wave: 2, ...SOAKED }), { next: 'finish' })
    assert.deepEqual(decide({ state: 'undoing' }), { next: 'take back' })
  })

  test('never opens behind a version that nobody has: the only host may have been removed', () => {
    const nobody = { done: 0, pending: 0 }
    assert.deepEqual(decide(SOAKED, nobody), {
      next: 'freeze',
      reason: 'no host has installed the version',
    })
    // [RLO-18]
    assert.equal(decide({ tolerated: 1, ...SOAKED }, nobody).next, 'open wave')
  })
})

describe('[RLO-9] failures', () => {
  test('freeze the rollout when they are more than may be, also while it gives, soaks, or a freeze holds', () => {
    const frozen = { next: 'freeze', reason: 'of 100 hosts 3 failed, where 2 may' }
    for (const changes of [SOAKED, { isGiven: false }, { threshold: null }, { wave: 2 }]) {
      assert.deepEqual(decide(changes, { failed: 3, done: 97 }), frozen)
      assert.deepEqual(decide(changes, { failed: 3, done: 97 }, FREEZE), frozen)
      assert.notEqual(decide(changes, { failed: 2, done: 98 }).next, 'freeze')
    }
  })

  test('[RLO-18] that an operator accepted by a resume do not freeze it again, one more does', () => {
    assert.equal(decide({ tolerated: 5, ...SOAKED }, { failed: 5, done: 95 }).next, 'open wave')
    assert.equal(decide({ tolerated: 5, ...SOAKED }, { failed: 6, done: 94 }).next, 'freeze')
  })
})

describe('[RLO-10] a host that is not done in time', () => {
  test('counts as failed: a few hold up nothing, many freeze the rollout', () => {
    const late = { openMs: HOUR_MS, ...SOAKED }
    assert.equal(decide(late, { pending: 1, silent: 1, unprobed: 1, done: 98 }).next, 'open wave')
    assert.deepEqual(decide(late, { pending: 2, silent: 2, unprobed: 1, failed: 1, done: 96 }), {
      next: 'freeze',
      reason: 'of 100 hosts 1 failed and 3 not done within 3600 s, where 2 may',
    })
    assert.equal(decide({ ...late, openMs: HOUR_MS - 1 }, { pending: 1, done: 99 }).next, 'wait')
  })

  test('[RLO-11] counts for nothing behind the last wave when nothing was heard of it', () => {
    const last = { wave: 2, openMs: HOUR_MS, ...SOAKED }
    assert.equal(decide(last, { pending: 40, silent: 40, done: 60 }).next, 'finish')
    assert.equal(decide(last, { pending: 40, silent: 37, done: 60 }).next, 'freeze')
  })
})

describe('[RLO-20] nothing is given while', () => {
  const why = (verdict: RolloutVerdict) => (verdict.next === 'wait' ? verdict.why : verdict.next)
  test('a freeze holds', () => {
    const text = 'a freeze holds until 2026-11-26T11:00:00.000Z: Black Friday'
    assert.equal(why(decide(SOAKED, {}, FREEZE)), text)
    assert.equal(why(decide({ isGiven: false }, {}, FREEZE)), text)
    assert.equal(decide(SOAKED, {}, { ...FREEZE, endedAt: NOW }).next, 'open wave')
    assert.equal(decide(SOAKED, {}, { ...FREEZE, until: NOW }).next, 'open wave')
    assert.equal(decide({ state: 'undoing' }, {}, FREEZE).next, 'take back')
  })

  test('[RLO-16] it is paused, frozen or over', () => {
    assert.equal(why(decide({ state: 'paused', changedBy: 'token:ci' })), 'token:ci paused it')
    assert.equal(why(decide({ state: 'frozen', reason: 'why' })), 'it is frozen: why')
    assert.equal(why(decide({ state: 'done' })), 'it is done')
  })
})

test('[RLO-7] [RLO-9] whatever the counts, no wave opens before the last one is done, has soaked and is within its failures', () => {
  const count = fc.nat(200)
  const rollout = fc.record({
    wave: fc.nat(2),
    threshold: fc.option(fc.nat(9)),
    isGiven: fc.boolean(),
    openMs: fc.nat(2 * HOUR_MS),
    soakedMs: fc.nat(1_200_000),
    tolerated: fc.nat(9),
    state: fc.constantFrom('running', 'paused', 'frozen', 'undoing', 'undone', 'done'),
  })
  const counts = fc.record({
    pending: count,
    unprobed: count,
    done: count,
    failed: count,
    declined: count,
  })
  const property = fc.property(rollout, counts, fc.boolean(), (changes, seen, isHeld) => {
    const facts = { ...seen, silent: Math.floor(seen.pending / 2) }
    const verdict = decide(changes, facts, isHeld ? FREEZE : undefined)
    const isForward = verdict.next === 'finish' || verdict.next === 'open wave'
    if (!isForward || (verdict.next === 'open wave' && verdict.wave === changes.wave)) return
    assert.ok(changes.state === 'running' && changes.isGiven && !isHeld)
    assert.ok(changes.soakedMs >= OPEN.soakMs)
    assert.ok(seen.pending + seen.unprobed === 0 || changes.openMs >= HOUR_MS)
    const { failed, late, allowed } = countFailures({ ...OPEN, ...changes }, facts)
    assert.ok(failed + late <= allowed)
    const haveAllDeclined = seen.declined > 0 && seen.pending + seen.unprobed + seen.failed === 0
    assert.ok(seen.done > 0 || changes.tolerated > 0 || haveAllDeclined)
  })
  fc.assert(property, propertyRuns(2000))
})

describe('[RLO-12] the time of a wave', () => {
  const watch: RolloutWatch = {
    wave: 1,
    lookedAt: NOW,
    isSoaking: true,
    openMs: 10_000,
    soakedMs: 5000,
  }
  const timesAt = (now: Date, last: RolloutWatch | undefined, changes: Partial<Rollout> = {}) => {
    const { openMs, soakedMs } = advanceTimes({ ...OPEN, ...changes }, last, {
      now,
      stepMsMax: 4000,
    })
    return [openMs, soakedMs]
  }
  const after = (ms: number): Date => new Date(NOW.getTime() + ms)

  test('passes with the clock, but not faster than the hub looks', () => {
    assert.deepEqual(timesAt(after(2000), watch), [12_000, 7000])
    assert.deepEqual(timesAt(after(365 * 24 * HOUR_MS), watch), [14_000, 9000])
    assert.deepEqual(timesAt(after(-HOUR_MS), watch), [10_000, 5000])
  })

  test('begins again where a host was not done, and goes on from what was noted after a restart', () => {
    assert.deepEqual(timesAt(after(2000), { ...watch, isSoaking: false }), [12_000, 0])
    assert.deepEqual(timesAt(after(2000), undefined, { openMs: 9, soakedMs: 8 }), [9, 8])
    assert.deepEqual(timesAt(after(2000), { ...watch, wave: 0 }), [0, 0])
    assert.deepEqual(timesAt(after(2000), watch, { state: 'paused' }), [0, 0])
  })
})

describe('[RLO-4] the order of hosts', () => {
  const heard = { lastHeardAt: NOW, now: NOW }
  const place = (rollout: string, agent: string, facts: Parameters<typeof placeOf>[2] = heard) =>
    placeOf(rollout as RolloutId, agent as AgentId, facts)

  test('is the same for everybody, another one for each rollout, and has silent hosts last', () => {
    assert.equal(place('r', 'a'), place('r', 'a'))
    assert.notEqual(place('r', 'a'), place('s', 'a'))
    assert.notEqual(place('r', 'a'), place('r', 'b'))
    const silent = { lastHeardAt: new Date(NOW.getTime() - HEARD_LATELY_MS - 1), now: NOW }
    const never = { lastHeardAt: undefined, now: NOW }
    for (const facts of [silent, never]) {
      assert.ok(place('r', 'a', facts) > place('r', 'b'))
      assert.ok(place('r', 'a', facts) <= LAST_PLACE)
    }
  })

  test('has so many up to the threshold of a wave', () => {
    const places = Array.from({ length: 50 }, (_, at) => place('r', `agent-${at}`))
    for (const count of [0, 1, 7, 50, 60]) {
      const threshold = thresholdOf(places, count)
      assert.equal(places.filter((one) => one <= threshold).length, Math.min(count, 50))
    }
  })
})
