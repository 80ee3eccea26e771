// Histories that nobody has seen yet: history.test.ts says what is held against them.

import { after, before, describe, test } from 'node:test'
import { openWorkshop, runHistory, type Workshop } from './history/run-history.ts'
import { Tally } from './history/tally.ts'
import { seedFrom } from './seeded-random.ts'

const HISTORIES = 25
const TIMEOUT = { timeout: 600_000 }

let workshop: Workshop

describe('new simulated histories', () => {
  before(async () => {
    workshop = await openWorkshop()
  })
  after(() => workshop[Symbol.asyncDispose]())

  const firstSeed = seedFrom(process.env['SIM_SEED'])
  test(`keep to the protocol (SIM_SEED=${firstSeed})`, TIMEOUT, async (context) => {
    const tally = new Tally()
    for (let seed = firstSeed; seed < firstSeed + HISTORIES; seed += 1) {
      tally.add(await runHistory(workshop, seed))
    }
    context.diagnostic(tally.summarise())
  })
})
