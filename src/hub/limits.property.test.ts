import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { UserError } from '../platform/errors.ts'
import { DEFAULT_HUB_LIMITS, HUB_LIMITS, type HubLimits } from '../protocol/hub-limits.ts'
import { parseHubLimits } from './limits.ts'

// The table is what is tested.
const NAMES = Object.keys(HUB_LIMITS) as (keyof HubLimits)[]
const name = fc.constantFrom(...NAMES)

test('[LIM-14] any whole number is the limit of its variable, 0 lifts it, and no other limit moves', () => {
  const number = fc.oneof(fc.nat(), fc.nat({ max: 999_999_999_999 }), fc.constant(0))
  fc.assert(
    fc.property(name, number, fc.nat({ max: 2 }), (limit, value, zeros) => {
      const text = `${'0'.repeat(zeros)}${value}`.slice(-12)
      const limits = parseHubLimits({ [HUB_LIMITS[limit].variable]: text })
      const expected = Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text)
      assert.deepEqual(limits, { ...DEFAULT_HUB_LIMITS, [limit]: expected })
    }),
    propertyRuns(500),
  )
})

test('[LIM-14] any other text stops the start with a message that names the variable', () => {
  const near = fc.constantFrom(
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '1_000',
    ' 1',
    '1\n',
    '∞',
    'none',
    '9'.repeat(13),
  )
  const bad = fc.oneof(near, anyText(20)).filter((text) => !/^\d{0,12}$/.test(text))
  fc.assert(
    fc.property(name, bad, (limit, text) => {
      const { variable } = HUB_LIMITS[limit]
      assert.throws(
        () => parseHubLimits({ [variable]: text }),
        (error) => error instanceof UserError && error.message.startsWith(`${variable}: `),
      )
    }),
    propertyRuns(500),
  )
})
