// How many hosts each wave would reach, as the hosts are now.

import type { JSX } from 'preact'
import type { AdminRehearsal } from '../../api/operations.ts'
import { words } from '../../words/words.ts'
import { findPlan } from './read-form.ts'

export function WavePlan({ rehearsal }: { readonly rehearsal: AdminRehearsal }): JSX.Element {
  const { cargo } = words()
  return (
    <ul class="plain">
      {findPlan(rehearsal).map(({ wave, hosts }) => (
        <li key={wave}>{cargo.wavePlan(wave, hosts)}</li>
      ))}
    </ul>
  )
}
