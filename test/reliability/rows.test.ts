// Every row of `npm run reliability` in its small setting. SIM_SEED repeats a run.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ROWS } from '../../reliability/rows.ts'
import { runRow } from '../../reliability/run-row.ts'
import { seedFrom } from '../simulation/seeded-random.ts'

/** Of one row, on a machine that does other work too. */
const ROW_TIMEOUT_MS = 300_000

const seed = seedFrom(process.env['SIM_SEED'])

describe(`what is promised, tried in small [seed ${seed}]`, () => {
  for (const row of ROWS) {
    test(`${row.name}: ${row.promise}`, { timeout: ROW_TIMEOUT_MS }, async (context) => {
      const result = await runRow(row, {
        setting: 'small',
        seed,
        progress: (text) => context.diagnostic(text),
      })
      assert.deepEqual(result.broken, [])
      context.diagnostic(result.tried)
      if (result.skipped !== undefined) context.skip(result.skipped)
    })
  }
})
