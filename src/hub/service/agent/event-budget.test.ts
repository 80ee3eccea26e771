import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { EventOverdraft, EventRoom } from '../../domain/event-budget.ts'
import type { Store } from '../../store/store.ts'
import { createEventBudget, type EventBudget } from './event-budget.ts'

const DAY_MS = 86_400_000
const RATE_LIMITED = { ok: false, refusal: 'rate_limited' }
const UNAVAILABLE = { ok: false, refusal: 'unavailable' }

let store: Store & AsyncDisposable
let clock: SettableClock
let room: EventRoom
let overdrafts: EventOverdraft[]
let agentId: AgentId
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  clock = createSettableClock(NOW)
  room = 'enough'
  overdrafts = []
  agentId = (await insertAgent(store, `web-${(count += 1)}`)).id
})

function budgetOf(bytesPerDay: number): EventBudget {
  return createEventBudget({
    store,
    clock,
    bytesPerDay,
    findRoom: async () => room,
    onOverdraft: (overdraft) => void overdrafts.push(overdraft),
  })
}

type Spent = { readonly ok: true } | EventOverdraft

/** An entry of so many bytes, as it is asked for and then written. */
async function spend(budget: EventBudget, bytes: number, whose = agentId): Promise<Spent> {
  return budget.spend<Spent>(
    whose,
    bytes,
    async (_, charge) => (await charge(clock.now())) ?? { ok: true },
  )
}

describe('what an agent may add to the log', () => {
  test('[LIM-40] [LIM-42] is kept in the vault, and paid back as time goes by', async () => {
    const budget = budgetOf(1000)
    assert.deepEqual(await spend(budget, 999), { ok: true })
    assert.deepEqual(await store.reader.findEventDebt(agentId), {
      bytes: 999,
      reserveBytes: 0,
      at: NOW,
    })
    assert.deepEqual(await spend(budget, 1000), { ok: true }, 'one more of any size')
    assert.deepEqual(await spend(budget, 1), { ...RATE_LIMITED, waitMs: DAY_MS })
    clock.pass(DAY_MS / 2)
    assert.deepEqual(await spend(budgetOf(1000), 1), { ...RATE_LIMITED, waitMs: DAY_MS / 2 })
    clock.pass(DAY_MS / 2)
    assert.deepEqual(await spend(budget, 1), { ok: true })
    assert.deepEqual(
      overdrafts.map(({ refusal }) => refusal),
      ['rate_limited', 'rate_limited'],
    )
  })

  test('[LIM-40] is its own: another one is not told to wait', async () => {
    const budget = budgetOf(1000)
    const other = await insertAgent(store, 'other')
    await spend(budget, 5000)
    assert.deepEqual(await spend(budget, 5000, other.id), { ok: true })
  })

  test('[LIM-42] costs nothing when nothing is written', async () => {
    const budget = budgetOf(1000)
    for (let asked = 0; asked < 3; asked += 1) {
      assert.ok((await budget.spend(agentId, 900, async () => ({ ok: true }))).ok)
    }
    assert.equal(await store.reader.findEventDebt(agentId), undefined)
  })

  test('[LIM-40] is looked at once more where it is written: of those that come at once the last are refused', async () => {
    const budget = budgetOf(1000)
    const all = await Promise.all([1, 2, 3].map(() => spend(budget, 600)))
    assert.deepEqual(all, [{ ok: true }, { ok: true }, { ...RATE_LIMITED, waitMs: 17_366_400 }])
    assert.deepEqual(overdrafts.length, 1)
    assert.equal((await store.reader.findEventDebt(agentId))?.bytes, 1200)
  })

  test('[LIM-42] is forgiven by a clock that is put back by more than a minute, not by one that is slewed', async () => {
    const budget = budgetOf(1000)
    await spend(budget, 1500)
    clock.pass(-60_000)
    assert.equal((await spend(budget, 1)).ok, false)
    clock.pass(-1)
    assert.deepEqual(await spend(budget, 1), { ok: true })
    assert.equal((await store.reader.findEventDebt(agentId))?.bytes, 1)
  })

  test('[LIM-14] is not counted when the limit is lifted', async () => {
    const budget = budgetOf(Number.POSITIVE_INFINITY)
    for (let written = 0; written < 3; written += 1) await spend(budget, 1e9)
    assert.equal(await store.reader.findEventDebt(agentId), undefined)
  })
})

describe('[LIM-20] [LIM-41] below the floor of free space', () => {
  test('each has its reserve, also when the limit of a day is lifted', async () => {
    room = 'reserve'
    const budget = budgetOf(Number.POSITIVE_INFINITY)
    assert.deepEqual(await spend(budget, 16 * 1024), { ok: true })
    assert.deepEqual(await spend(budget, 1), UNAVAILABLE)
    assert.equal((await store.reader.findEventDebt(agentId))?.reserveBytes, 16 * 1024)
    clock.pass(DAY_MS)
    assert.deepEqual(await spend(budget, 1), { ok: true })
    room = 'enough'
    assert.deepEqual(await spend(budget, 1e6), { ok: true }, 'and there is room again')
  })

  test('and below half of it nobody may', async () => {
    room = 'none'
    assert.deepEqual(await spend(budgetOf(1000), 1), UNAVAILABLE)
    assert.deepEqual(overdrafts, [UNAVAILABLE])
  })
})
