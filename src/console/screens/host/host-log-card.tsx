// What the log has of the host, without routine.

import type { JSX } from 'preact'
import type { Shown } from '../../api/query.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { describeEntry } from '../../../explain/describe-entry.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer } from '../../parts/answer.tsx'
import { Time } from '../../parts/time.tsx'
import { useEntryLanguage } from '../../words/entry-language.ts'
import { words } from '../../words/words.ts'
import type { Host } from './explain-host.ts'

const SHOWN = 12

export function HostLogCard({
  host,
  shown,
}: {
  readonly host: Host
  readonly shown: Shown<AdminReplies['listEntries']>
}): JSX.Element {
  const { host: text } = words()
  const entryLanguage = useEntryLanguage()
  return (
    <section class="card" aria-labelledby="log">
      <header>
        <h2 id="log">{text.log}</h2>
        <span class="grow" />
        <a class="link" href={hrefOf('/audit', { about: host.hostname })}>
          {text.whole}
        </a>
      </header>
      <Answer shown={shown}>
        {({ eventos }) =>
          entryLanguage !== undefined && (
            <ol class="feed">
              {eventos
                .toReversed()
                .slice(0, SHOWN)
                .map(({ seq, tipo_evento: type, payload, agente_id: agentId, timestamp }) => {
                  const hostname = agentId === null ? null : host.hostname
                  const { title, sentence } = describeEntry(
                    { seq, type, payload, agentId, hostname },
                    entryLanguage,
                  )
                  return (
                    <li key={seq}>
                      <Time at={timestamp} />
                      <div>
                        <a href={hrefOf(`/audit/${seq}`)}>
                          <b>{title}</b>
                        </a>{' '}
                        <span class="wire">{type}</span>
                        <p>{sentence}</p>
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
