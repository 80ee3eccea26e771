// Rows of `npm run reliability`, each a test, in their small setting. SIM_SEED repeats a run.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ROWS_BY_SUBJECT } from '../../reliability/rows.ts'
import { runRow } from '../../reliability/run-row.ts'
import { seedFrom } from '../simulation/seeded-random.ts'

/** Of one row, on a machine that does other work too. */
const ROW_TIMEOUT_MS = 300_000

export function tryRows(subject: keyof typeof ROWS_BY_SUBJECT): void {
  const seed = seedFrom(process.env['SIM_SEED'])
  describe(`what is promised of ${subject}, tried in small [seed ${seed}]`, () => {
    for (const row of ROWS_BY_SUBJECT[subject]) {
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
}
