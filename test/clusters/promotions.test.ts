// A hub that is killed under load, and its standby that is promoted: three times here, a hundred times with `npm run promotions -- --full`.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { seedFrom } from '../simulation/seeded-random.ts'
import { tryPromotions } from './try-promotions.ts'

const SEED = seedFrom(process.env['PROMOTIONS_SEED'])

describe(`promotions [seed ${SEED}]`, () => {
  test('[STB-6] [STB-14] [STB-16] lose nothing that was acknowledged, and no old hub serves', async (context) => {
    const { violations, surprises, acknowledged } = await tryPromotions({
      times: 3,
      seed: SEED,
      loadMs: 2000,
      progress: (text) => context.diagnostic(text),
    })
    assert.deepEqual(violations, [])
    assert.deepEqual(surprises, [])
    assert.ok(acknowledged > 100, `${acknowledged} answers`)
  })

  test('[STB-17] of a standby that was away, with SVC_STANDBY=preferred, lose what the hub acknowledged alone: the judge finds it', async (context) => {
    const { violations } = await tryPromotions({
      times: 1,
      seed: SEED,
      loadMs: 1000,
      mode: 'preferred',
      progress: (text) => context.diagnostic(text),
    })
    assert.ok(violations.some(({ kind }) => kind === 'lost'))
  })
})
