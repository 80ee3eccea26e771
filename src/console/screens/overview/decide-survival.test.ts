import assert from 'node:assert/strict'
import { test } from 'node:test'
import { summaryWith, SURVIVAL } from '../../../../test/support/fleet-summary-samples.ts'
import { decideSurvival } from './decide-survival.ts'

const ends = summaryWith().certificados
const NONE = { fresh: 0, renewing: 0, atrasado: 0, expired: 0, later: 0 }

/** A fleet of which these certificates are all that is in use, and no host is on time. */
const decide = (counts: Partial<typeof ends>) =>
  decideSurvival(
    summaryWith({ certificados: { ...ends, ...NONE, ...counts }, survival_on_time: null }),
  )

test('without a certificate in use nothing ends, however long the hub is down', () => {
  assert.equal(decide({}), 'nothing_ends')
})

test('a fleet of which every host is late or has expired may not stay without its hub', () => {
  assert.equal(decide({ atrasado: 3 }), 'none_on_time')
  assert.equal(decide({ expired: 1 }), 'none_on_time')
  // Of a host that is late with one certificate, another one may be fresh.
  assert.equal(decide({ fresh: 2 }), 'none_on_time')
  assert.equal(decide({ renewing: 1 }), 'none_on_time')
})

test('the first one to end of a host on time', () => {
  assert.equal(decideSurvival(summaryWith({ survival_on_time: SURVIVAL })), SURVIVAL)
})
