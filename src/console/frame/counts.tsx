// How many there are of what a section lists, and what of it needs somebody.

import type { JSX } from 'preact'
import { useQuery } from '../api/query.ts'
import { formatCount } from '../parts/time.tsx'
import { words } from '../words/words.ts'
import type { Section } from './navigation.ts'

export function Counts({ section }: { readonly section: Section['label'] }): JSX.Element | null {
  const { data } = useQuery('showStatus', {}).value
  const { frame } = words()
  if (data === undefined) return null
  if (section === 'hosts') return <span class="count">{formatCount(data.agentes.registered)}</span>
  if (section === 'deliveries' && data.entregas.falhou > 0) {
    return <span class="count bad">{frame.failed(formatCount(data.entregas.falhou))}</span>
  }
  if (section === 'rollouts' && data.rollouts.length > 0) {
    return <span class="count">{formatCount(data.rollouts.length)}</span>
  }
  return null
}
