// What has just happened, without routine.

import type { JSX } from 'preact'
import { describeEntry } from '../../../explain/describe-entry.ts'
import { useVaultEntries } from '../../api/use-vault-entries.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer } from '../../parts/answer.tsx'
import { Time } from '../../parts/time.tsx'
import { useEntryLanguage } from '../../words/entry-language.ts'
import { words } from '../../words/words.ts'

const ENTRIES = 8

export function NowCard(): JSX.Element {
  const { overview } = words()
  const entryLanguage = useEntryLanguage()
  const shown = useVaultEntries({ last: ENTRIES })
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
        {({ eventos }) =>
          entryLanguage !== undefined && (
            <ol class="feed">
              {eventos
                .toReversed()
                .map(({ seq, tipo_evento: type, timestamp, payload, agente_id: agentId }) => {
                  const entry = { seq, type, payload, agentId, hostname: null }
                  return (
                    <li key={seq}>
                      <Time at={timestamp} withSeconds />
                      <div>
                        <a href={hrefOf(`/audit/${seq}`)}>
                          {describeEntry(entry, entryLanguage).sentence}
                        </a>
                      </div>
                    </li>
                  )
                })}
            </ol>
          )
        }
      </Answer>
    </section>
  )
}
