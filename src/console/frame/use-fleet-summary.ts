// The fleet in one reply, asked for once for all that a page shows of it: the counts at the side are of the answer that the overview has.

import type { ReadonlySignal } from '@preact/signals'
import type { AdminReplies } from '../api/operations.ts'
import { UNHURRIED_MS } from '../api/pace.ts'
import { type Shown, useQuery } from '../api/query.ts'
import { here } from './router.ts'

export const HORIZONS = ['6h', '48h', '7d'] as const
export type Horizon = (typeof HORIZONS)[number]

/** How far the picture of the overview goes, as the URL says. */
export function chosenHorizon(): Horizon {
  return HORIZONS.find((one) => one === here.value.query['span']) ?? '48h'
}

export function useFleetSummary(): ReadonlySignal<Shown<AdminReplies['summarizeFleet']>> {
  const isOverview = here.value.path === '/'
  return useQuery(
    'summarizeFleet',
    isOverview ? { horizon: chosenHorizon(), samples: 'hour' } : {},
    {
      ...(isOverview ? { goesWithTime: true } : { paceMs: UNHURRIED_MS }),
      ageMsOf: ({ time, as_of: gathered }) => Date.parse(time) - Date.parse(gathered),
    },
  )
}
