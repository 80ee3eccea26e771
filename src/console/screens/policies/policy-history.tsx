// Who set the politica, and when, as far as the newest entries about politicas go.

import type { JSX } from 'preact'
import { useQuery } from '../../api/query.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer } from '../../parts/answer.tsx'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { actorOf, isAbout, type Target } from './describe-policy.ts'

export const POLICY_ENTRIES: { readonly tipos: string[]; readonly last: number } = {
  tipos: ['politica_set', 'politica_removed'],
  last: 50,
}
const SHOWN_MAX = 8

export function PolicyHistory({ target }: { readonly target: Target }): JSX.Element {
  const { policies: text } = words()
  const { tipos } = POLICY_ENTRIES
  const shown = useQuery('listEntries', POLICY_ENTRIES, { tipos })
  return (
    <section class="card" aria-labelledby="history">
      <header>
        <h2 id="history">{text.history}</h2>
        <span class="wire">evento</span>
      </header>
      <Answer shown={shown.value}>
        {({ eventos }) => {
          const own = eventos.filter((entry) => isAbout(target, entry)).toReversed()
          if (own.length === 0) return <p class="body muted">{text.noHistory}</p>
          return (
            <ul class="body plain-list">
              {own.slice(0, SHOWN_MAX).map(({ seq, timestamp, tipo_evento: tipo, payload }) => (
                <li key={seq}>
                  <a class="link" href={hrefOf(`/audit/${seq}`)}>
                    <Time at={timestamp} withSeconds />
                  </a>{' '}
                  <code>{tipo}</code> {text.by(actorOf({ payload }))}
                </li>
              ))}
            </ul>
          )
        }}
      </Answer>
    </section>
  )
}
