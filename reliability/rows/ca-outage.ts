// A CA that stands still with many enrolments waiting, and deliveries that wait for one that is out of order.

import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { tryPendingDeliveries } from '../support/pending-deliveries.ts'
import { trySilentCa } from '../support/silent-ca.ts'

/**
 * Silence is longer than the hub's ten seconds, and ends at any moment of the next ten. In small the machine may be busy
 * with other tests, and what a hundred clients at once are late by is its own.
 */
const SIZES = {
  small: {
    silenceMs: 10_200,
    silenceMoreMs: 400,
    bounds: { answeredMs: 18_000, firstSuccessMs: 10_000, healthMs: 5000 },
    deliveries: { hosts: 2, deliveriesPerHost: 2, outageMs: 1500, hasSilence: false },
  },
  full: {
    silenceMs: 60_000,
    silenceMoreMs: 10_000,
    bounds: { answeredMs: 11_000, firstSuccessMs: 1000, healthMs: 1000 },
    deliveries: { hosts: 8, deliveriesPerHost: 4, outageMs: 600_000, hasSilence: true },
  },
} as const

export const caOutage: ReliabilityRow = {
  name: 'ca-outage',
  promise:
    'while the CA is silent, each enrolment gets 502 within 11 s and no token is consumed; waiting deliveries complete by themselves',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  const { directory, random } = context
  const size = SIZES[context.setting]
  const silenceMs = Math.round(size.silenceMs + random() * size.silenceMoreMs)
  // Both end before a failure of one is passed on: what the other uses is about to be taken away.
  const [silent, pending] = await Promise.allSettled([
    trySilentCa({ directory, silenceMs, bounds: size.bounds, random }),
    tryPendingDeliveries({ ...size.deliveries, random }),
  ])
  if (silent.status === 'rejected') throw silent.reason
  if (pending.status === 'rejected') throw pending.reason
  const { hosts, deliveriesPerHost, outageMs } = size.deliveries
  return {
    tried: `100 hosts at a CA silent for ${silenceMs / 1000} s, ${silent.value.refusals} refusals; ${hosts * deliveriesPerHost} deliveries through an outage of ${outageMs / 1000} s`,
    broken: [...silent.value.broken, ...pending.value.broken],
    measured: `${silent.value.measured}; ${pending.value.measured}`,
  }
}
