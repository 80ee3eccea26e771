// Histories of a hub, its agents, their CA and their people, in which everything fails that can: what comes of it is
// held against docs/protocol.md, step by step and at the end. A seed gives the same history again.

import { openWorkshop, runHistory, type Workshop } from './history/run-history.ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readRegressionSeeds } from './history/regression-seeds.ts'
import { Tally } from './history/tally.ts'
import { seedFrom } from './seeded-random.ts'

/** Of new histories: what else there is to look at has files of its own, or comes on top. */
const NEW_HISTORIES_MS = 40_000
const TIMEOUT_MS = 110_000

let workshop: Workshop

describe('simulated histories', () => {
  before(async () => {
    workshop = await openWorkshop()
  })
  after(() => workshop[Symbol.asyncDispose]())

  test('the same seed gives the same history', { timeout: TIMEOUT_MS }, async () => {
    for (const seed of [4, 71]) {
      const first = await runHistory(workshop, seed)
      const second = await runHistory(workshop, seed)
      assert.deepEqual(second, first)
    }
    const other = await runHistory(workshop, 5)
    assert.notEqual(other.hash, (await runHistory(workshop, 4)).hash)
  })

  for (const { seed, found } of readRegressionSeeds()) {
    test(`seed ${seed} is right again: ${found}`, { timeout: TIMEOUT_MS }, async () => {
      await runHistory(workshop, seed)
    })
  }

  const firstSeed = seedFrom(process.env['SIM_SEED'])
  test(
    `new histories keep to the protocol (SIM_SEED=${firstSeed})`,
    {
      timeout: TIMEOUT_MS,
    },
    async (context) => {
      const tally = new Tally()
      const startMs = performance.now()
      for (let seed = firstSeed; performance.now() - startMs < NEW_HISTORIES_MS; seed += 1) {
        tally.add(await runHistory(workshop, seed))
      }
      context.diagnostic(tally.summarise())
    },
  )
})
