// Histories of a hub, its agents, their CA and their people, in which everything fails that can: what comes of it is
// held against docs/protocol.md, step by step and at the end. A seed gives the same history again.

import { openWorkshop, runHistory, type Workshop } from './history/run-history.ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readRegressionSeeds } from './history/regression-seeds.ts'
import { Tally } from './history/tally.ts'

/** The same for everyone; new-histories.test.ts has others each time. */
const FIRST_HISTORIES = 12
const TIMEOUT_MS = 600_000

let workshop: Workshop

describe('simulated histories', () => {
  before(async () => {
    workshop = await openWorkshop()
  })
  after(() => workshop[Symbol.asyncDispose]())

  test('the same seed gives the same history', { timeout: TIMEOUT_MS }, async () => {
    for (const [seed, hubs] of [
      [4, 1],
      [71, 1],
      [5, 2],
    ] as const) {
      const first = await runHistory(workshop, seed, { hubs })
      const second = await runHistory(workshop, seed, { hubs })
      assert.deepEqual(second, first)
    }
    const other = await runHistory(workshop, 5, { hubs: 1 })
    assert.notEqual(other.hash, (await runHistory(workshop, 4, { hubs: 1 })).hash)
  })

  for (const { seed, hubs, found } of readRegressionSeeds()) {
    test(
      `seed ${seed} of ${hubs} hubs is right again: ${found}`,
      { timeout: TIMEOUT_MS },
      async () => {
        await runHistory(workshop, seed, { hubs })
      },
    )
  }

  test('the first histories keep to the protocol', { timeout: TIMEOUT_MS }, async (context) => {
    const tally = new Tally()
    for (let seed = 1; seed <= FIRST_HISTORIES; seed += 1) {
      tally.add(await runHistory(workshop, seed))
    }
    context.diagnostic(tally.summarise())
  })
})
