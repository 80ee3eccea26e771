// Each fault that is put back in on purpose is found: histories in which nothing is found have looked. The second tier tries a third of
// them, by its seed; TEST_KNOWN_BUGS=all, and whoever names this file, all of them.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type KnownBug, KNOWN_BUGS } from './history/known-bugs.ts'
import { openWorkshop, runHistory, type Workshop } from './history/run-history.ts'
import { seedFrom } from './seeded-random.ts'

/** Minutes for all of them, so that they are tried by turns. */
const PARTS = 3

/** Among so many histories each bug shows itself; nine in ten times among the first ten. */
const SEEDS_MAX = 40

/** Seconds a history, which on a busy machine are minutes. */
const TIMEOUT = { timeout: 600_000 }

let workshop: Workshop

const part = seedFrom(process.env['SIM_SEED']) % PARTS
const tried = KNOWN_BUGS.filter(
  (_, at) => process.env['TEST_KNOWN_BUGS'] === 'all' || at % PARTS === part,
)

describe('simulated histories find', () => {
  before(async () => {
    workshop = await openWorkshop()
  })
  after(() => workshop[Symbol.asyncDispose]())

  for (const bug of tried) {
    test(`${bug.name}, put back in, within ${SEEDS_MAX} seeds`, TIMEOUT, async (context) => {
      const { seed, others } = await findSymptom(bug, (each) =>
        runHistory(workshop, each, { bug, hubs: bug.hubs ?? 1 }),
      )
      context.diagnostic(`found by seed ${seed}`)
      for (const other of others) context.diagnostic(`before that: ${other}`)
    })
  }
})

/** What a fault has done to a host may show otherwise first: that is told, and the search goes on. */
async function findSymptom(
  { symptom, foundBy }: KnownBug,
  run: (seed: number) => Promise<unknown>,
): Promise<{ seed: number; others: readonly string[] }> {
  const others: string[] = []
  const seeds = new Set([foundBy, ...Array.from({ length: SEEDS_MAX }, (_, index) => index + 1)])
  for (const seed of seeds) {
    const failure = await run(seed).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (failure === undefined) continue
    if (symptom.test(failure)) return { seed, others }
    others.push(failure.split('\n', 1)[0] ?? '')
  }
  return assert.fail(`not found within ${SEEDS_MAX} seeds; ${others.join('; ')}`)
}
