import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  decideEventBudget,
  type EventBudgetFacts,
  type EventDebt,
  entryBytesOf,
} from './event-budget.ts'
import { propertyRuns } from '../../../test/support/property.ts'

const NOW = new Date('2026-11-22T10:00:00Z')
const DAY_MS = 86_400_000
const KIB = 1024
const BUDGET = 64 * KIB * KIB

const after = (ms: number): Date => new Date(NOW.getTime() + ms)

function decide(facts: Partial<EventBudgetFacts>) {
  return decideEventBudget({
    debt: undefined,
    entryBytes: 2 * KIB,
    room: 'enough',
    bytesPerDay: BUDGET,
    now: NOW,
    ...facts,
  })
}

const owing = (bytes: number, at = NOW): EventDebt => ({ bytes, reserveBytes: 0, at })

describe('[LIM-40] the bytes of an agent’s events', () => {
  test('are its payload in UTF-8, and 1 KiB for the rest of the entry', () => {
    assert.equal(entryBytesOf('{}'), 1026)
    assert.equal(entryBytesOf('"ç"'), 1028)
  })

  test('are owed, and paid back over a day', () => {
    assert.deepEqual(decide({}), { ok: true, debt: owing(2048) })
    const later = after(DAY_MS / 2)
    assert.deepEqual(decide({ debt: owing(BUDGET), now: later }), {
      ok: true,
      debt: owing(BUDGET / 2 + 2048, later),
    })
    const muchLater = after(3 * DAY_MS)
    assert.deepEqual(decide({ debt: owing(BUDGET), now: muchLater }), {
      ok: true,
      debt: owing(2048, muchLater),
    })
  })

  test('are refused once a day’s worth is owed, until some of it is paid back', () => {
    const debt = owing(BUDGET + 17 * KIB)
    const refused = decide({ debt })
    assert.ok(!refused.ok && refused.refusal === 'rate_limited')
    // 17 KiB at 64 MiB a day.
    assert.ok(refused.waitMs > 22_000 && refused.waitMs < 23_000, String(refused.waitMs))
    assert.equal(decide({ debt, now: after(refused.waitMs - 10) }).ok, false)
    assert.equal(decide({ debt, now: after(refused.waitMs) }).ok, true)
  })

  test('are taken one at a time, however small the budget is', () => {
    const first = decide({ bytesPerDay: 1, entryBytes: 17 * KIB })
    assert.ok(first.ok)
    assert.equal(decide({ bytesPerDay: 1, debt: first.debt }).ok, false)
  })

  test('are nobody’s debt when the limit is lifted', () => {
    const bytesPerDay = Number.POSITIVE_INFINITY
    const debt = owing(2 * BUDGET)
    assert.deepEqual(decide({ bytesPerDay, debt }), { ok: true, debt: undefined })
    assert.deepEqual(decide({ bytesPerDay, room: 'none' }), { ok: false, refusal: 'unavailable' })
  })

  test('are paid back at once when the clock was put back, not for a second of it', () => {
    assert.equal(decide({ debt: owing(BUDGET, after(DAY_MS)) }).ok, true)
    assert.equal(decide({ debt: owing(BUDGET, after(1000)) }).ok, false)
  })
})

describe('[LIM-41] below the floor of free space', () => {
  for (const bytesPerDay of [BUDGET, Number.POSITIVE_INFINITY]) {
    test(`an agent has 16 KiB a day when its budget is ${bytesPerDay}`, () => {
      let debt: EventDebt | undefined
      let count = 0
      for (;;) {
        const verdict = decide({ debt, bytesPerDay, room: 'reserve', entryBytes: 1300 })
        if (!verdict.ok) {
          assert.deepEqual(verdict, { ok: false, refusal: 'unavailable' })
          break
        }
        ;({ debt } = verdict)
        count += 1
      }
      assert.equal(count, 13)
      const later = after(3 * 3_600_000)
      assert.equal(decide({ debt, bytesPerDay, room: 'reserve', now: later }).ok, true)
      assert.equal(decide({ debt, bytesPerDay }).ok, true)
    })
  }

  test('an agent that owes a day’s worth waits as it does above', () => {
    const verdict = decide({ debt: owing(BUDGET), room: 'reserve' })
    assert.ok(!verdict.ok && verdict.refusal === 'rate_limited')
  })

  test('nothing is taken when the reserve is gone', () => {
    assert.deepEqual(decide({ room: 'none' }), { ok: false, refusal: 'unavailable' })
  })
})

test('[LIM-40] [LIM-41] whatever an agent sends, and whenever: a budget at once, one a day, and an entry', () => {
  const sent = fc.array(
    fc.record({
      waitMs: fc.oneof(fc.nat(1000), fc.nat(DAY_MS / 10)),
      bytes: fc.integer({ min: 1024, max: 17 * KIB }),
      room: fc.constantFrom('enough' as const, 'reserve' as const),
    }),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(sent, fc.constantFrom(8 * KIB, 100 * KIB, BUDGET), (events, bytesPerDay) => {
      let now = NOW
      let debt: EventDebt | undefined
      let fromReserve = 0
      let taken = 0
      for (const { waitMs, bytes, room } of events) {
        now = new Date(now.getTime() + waitMs)
        const verdict = decide({ debt, bytesPerDay, room, entryBytes: bytes, now })
        if (!verdict.ok) continue
        ;({ debt } = verdict)
        taken += bytes
        if (room === 'reserve') fromReserve += bytes
      }
      const days = (now.getTime() - NOW.getTime()) / DAY_MS
      assert.ok(taken <= (1 + days) * bytesPerDay + 17 * KIB)
      assert.ok(fromReserve <= (1 + days) * 16 * KIB + 17 * KIB)
    }),
    propertyRuns(100),
  )
})
