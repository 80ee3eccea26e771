// What has just happened, without routine.

import type { JSX } from 'preact'
import { useQuery } from '../../api/query.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer } from '../../parts/answer.tsx'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

const ENTRIES = 8

export function NowCard(): JSX.Element {
  const { overview } = words()
  const shown = useQuery('listEntries', { last: ENTRIES, routine: false })
  return (
    <section class="card" aria-labelledby="now">
      <header>
        <h2 id="now">{overview.now}</h2>
        <span class="faint">{overview.routineHidden}</span>
        <span class="grow" />
        <a class="link" href={hrefOf('/audit')}>
          {overview.log}
        </a>
      </header>
      <Answer shown={shown.value}>
        {({ eventos }) => (
          <ol class="feed">
            {eventos.toReversed().map(({ seq, tipo_evento: tipo, timestamp, payload }) => (
              <li key={seq}>
                <Time at={timestamp} withSeconds />
                <div>
                  <a href={hrefOf(`/audit/${seq}`)}>
                    <b>{nameIn(payload)}</b> <code>{tipo}</code>
                  </a>
                </div>
              </li>
            ))}
          </ol>
        )}
      </Answer>
    </section>
  )
}

/** Whom it is about, or who did it. */
function nameIn(payload: Readonly<Record<string, unknown>>): string {
  for (const field of ['hostname', 'nome', 'actor']) {
    const value = payload[field]
    if (typeof value === 'string') return value
  }
  return ''
}
