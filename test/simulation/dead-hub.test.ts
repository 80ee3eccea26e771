// The dead-hub week with a few agents; `npm run dead-hub` has 200.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogging } from '../../src/platform/logger.ts'
import { liveThroughDeadHub, type Promised } from './dead-hub-week.ts'
import { seedFrom } from './seeded-random.ts'

const SEED = seedFrom(process.env['SIM_SEED'])

function live(dropped: number): Promise<readonly Promised[]> {
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  return liveThroughDeadHub({ seed: SEED, agents: 6, dropped, logging })
}

const broken = (promises: readonly Promised[]): string[] =>
  promises.filter(({ isKept }) => !isKept).map(({ text }) => text)

test(`[BKP-16] [BKP-17] [BKP-18] [BKP-19] [CHN-25] a fleet comes back to a hub that was gone for six days, and nobody else (SIM_SEED=${SEED})`, async () => {
  const promises = await live(0)
  assert.deepEqual(broken(promises), [])
  assert.equal(promises.length, 6)
})

test(`[CHN-24] [CHN-25] every agent that saw entries which the restored hub no longer has raises the alarm (SIM_SEED=${SEED})`, async () => {
  assert.deepEqual(broken(await live(10)), [])
})
