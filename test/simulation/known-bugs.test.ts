// Each fault that is put back in on purpose is found: histories in which nothing is found have looked.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { KNOWN_BUGS } from './history/known-bugs.ts'
import { openWorkshop, runHistory, type Workshop } from './history/run-history.ts'

/** Among so many histories each bug shows itself; nine in ten times among the first ten. */
const SEEDS_MAX = 40

/** Seconds a history, which on a busy machine are minutes. */
const TIMEOUT = { timeout: 600_000 }

let workshop: Workshop

describe('simulated histories find', () => {
  before(async () => {
    workshop = await openWorkshop()
  })
  after(() => workshop[Symbol.asyncDispose]())

  for (const bug of KNOWN_BUGS) {
    test(`${bug.name}, put back in, within ${SEEDS_MAX} seeds`, TIMEOUT, async (context) => {
      const { seed, failure } = await findFirst((each) => runHistory(workshop, each, { bug }))
      assert.match(failure, bug.symptom)
      context.diagnostic(`found by seed ${seed}`)
    })
  }
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
