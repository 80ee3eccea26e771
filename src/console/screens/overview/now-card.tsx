// What has just happened, without routine.

import type { JSX } from 'preact'
import { useVaultEntries } from '../../api/use-vault-entries.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer } from '../../parts/answer.tsx'
import { Time } from '../../parts/time.tsx'
import { useEntryLanguage } from '../../words/entry-language.ts'
import { words } from '../../words/words.ts'
import { describeLogEntry } from '../audit/describe-log-entry.ts'

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
              {eventos.toReversed().map((entry) => (
                <li key={entry.seq}>
                  <Time at={entry.timestamp} withSeconds />
                  <div>
                    <a href={hrefOf(`/audit/${entry.seq}`)}>
                      {describeLogEntry(entry, entryLanguage).sentence}
                    </a>
                  </div>
                </li>
              ))}
            </ol>
          )
        }
      </Answer>
    </section>
  )
}
