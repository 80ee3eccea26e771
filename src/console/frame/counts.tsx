// How many there are of what a section lists, and what of it needs somebody.

import type { JSX } from 'preact'
import { formatCount } from '../parts/time.tsx'
import { words } from '../words/words.ts'
import type { Section } from './navigation.ts'
import { useFleetSummary } from './use-fleet-summary.ts'

export function Counts({ section }: { readonly section: Section['label'] }): JSX.Element | null {
  const { data } = useFleetSummary().value
  if (data === undefined) return null
  const { counts, webhooks, ca_revocations: revocations, rollouts } = data
  const { frame } = words()
  switch (section) {
    case 'hosts':
      return <Count count={counts.agentes} />
    case 'cargo':
      return <Count count={counts.cargas} />
    case 'deliveries':
      return counts.entregas_falhou === 0 ? null : (
        <span class="count bad">{frame.failed(formatCount(counts.entregas_falhou))}</span>
      )
    case 'rollouts':
      return rollouts.length === 0 ? null : <Count count={rollouts.length} />
    case 'policies':
      return <Count count={counts.politicas} />
    case 'enrolment':
      return <Count count={counts.tokens} />
    case 'revocations':
      return revocations.refused === 0 ? null : <Count count={revocations.refused} isLate />
    case 'webhooks':
      return webhooks.total === 0 ? null : <Count count={webhooks.total} isLate />
    default:
      return null
  }
}

function Count({
  count,
  isLate = false,
}: {
  readonly count: number
  readonly isLate?: boolean
}): JSX.Element {
  return <span class={isLate ? 'count late' : 'count'}>{formatCount(count)}</span>
}
