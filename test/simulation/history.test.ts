// Histories of a hub, its agents, their CA and their people, in which everything fails that can: what comes of it is
// held against docs/protocol.md, step by step and at the end. A seed gives the same history again.

import { openWorkshop, runHistory, type Workshop } from './history/run-history.ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { KNOWN_BUGS } from './history/known-bugs.ts'
import { readRegressionSeeds } from './history/regression-seeds.ts'
import { Tally } from './history/tally.ts'
import { seedFrom } from './seeded-random.ts'

/** Of new histories; with the others of this file, and those of the week, a minute and a half. */
const NEW_HISTORIES_MS = 40_000
const TIMEOUT_MS = 110_000
/** Among so many histories each bug shows itself; nine in ten times among the first ten. */
const SEEDS_MAX = 40

let workshop: Workshop

describe('simulated histories', { timeout: 4 * TIMEOUT_MS }, () => {
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

  for (const bug of KNOWN_BUGS) {
    test(
      `finds ${bug.name}, put back in, within ${SEEDS_MAX} seeds`,
      {
        timeout: TIMEOUT_MS,
      },
      async (context) => {
        const { seed, failure } = await findFirst((each) => runHistory(workshop, each, { bug }))
        assert.match(failure, bug.symptom)
        context.diagnostic(`found by seed ${seed}`)
      },
    )
  }

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

async function findFirst(
  run: (seed: number) => Promise<unknown>,
): Promise<{ seed: number; failure: string }> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const failure = await run(seed).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (failure !== undefined) return { seed, failure }
  }
  return assert.fail(`not found within ${SEEDS_MAX} seeds`)
}
