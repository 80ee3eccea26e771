// One entry: who, about what, what it changed, and its payload and hash as they are stored.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { EntryLanguage } from '../../../explain/entry-language.ts'
import { ask } from '../../api/client.ts'
import { hrefOf } from '../../frame/router.ts'
import { Notice } from '../../parts/answer.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { describeExactly, formatCount } from '../../parts/time.tsx'
import { HashBars } from '../../pictures/hash-bars.tsx'
import { words } from '../../words/words.ts'
import { type EntryHash, useEntryHashes } from './check-entry.ts'
import { type ChangedLine, comparePayloads, earlierActOf } from './compare-payloads.ts'
import { describeLogEntry, whoOf } from './describe-log-entry.ts'
import { type EntryFilters, toQuery } from './entry-filters.ts'
import type { Entry } from './entry-list.ts'

interface DetailProperties {
  readonly seq: number
  /** Undefined while it is asked for; null when the log has none. */
  readonly entry: Entry | null | undefined
  readonly filters: EntryFilters
  readonly language: EntryLanguage
}

export function EntryDetail({ seq, entry, filters, language }: DetailProperties): JSX.Element {
  const { audit } = words()
  const close = hrefOf('/audit', toQuery(filters))
  if (entry === undefined || entry === null) {
    return (
      <aside
        class="detail"
        aria-label={audit.panel(formatCount(seq))}
        aria-busy={entry === undefined}
      >
        {entry === null && (
          <Notice title={audit.noSuch(formatCount(seq))} hint={audit.noSuchHint}>
            <a class="link" href={close}>
              {audit.print.back}
            </a>
          </Notice>
        )}
      </aside>
    )
  }
  const { title, sentence, path, subject } = describeLogEntry(entry, language)
  const isElsewhere = !path.startsWith('/audit/')
  return (
    <aside class="detail" aria-label={audit.panel(formatCount(seq))}>
      <div>
        <div class="row">
          <h3>{title}</h3>
          <span class="wire grow">{entry.tipo_evento}</span>
          <a class="button quiet square small" href={close} aria-label={audit.close}>
            <Icon name="x" small />
          </a>
        </div>
        <p class="muted num">
          {audit.panel(formatCount(seq))} ·{' '}
          <time dateTime={entry.timestamp}>{describeExactly(entry.timestamp)}</time>
        </p>
        <p class="sentence">{sentence}</p>
      </div>
      <dl class="facts">
        <dt>{audit.byWhom}</dt>
        <dd>
          <a class="link" href={hrefOf('/audit', queryOfWho(entry))}>
            {whoOf(entry)}
          </a>
        </dd>
        {(isElsewhere || subject !== null) && (
          <>
            <dt>{audit.aboutWhat}</dt>
            <dd>
              {isElsewhere ? (
                <a class="link" href={hrefOf(path)}>
                  {subject ?? path}
                </a>
              ) : (
                subject
              )}
            </dd>
          </>
        )}
        {entry.entrega_id !== null && (
          <>
            <dt>{audit.delivery}</dt>
            <dd>
              <code>{entry.entrega_id}</code>
            </dd>
          </>
        )}
        {entry.request_id !== null && (
          <>
            <dt>{audit.request}</dt>
            <dd>
              <code>{entry.request_id}</code>
              <CopyButton text={entry.request_id} />
            </dd>
          </>
        )}
      </dl>
      <Changes entry={entry} filters={filters} />
      <div>
        <h4>
          {audit.payload}
          <CopyButton text={entry.payload_text} label={audit.copyPayload} />
        </h4>
        <div class="pre mono">{entry.payload_text}</div>
      </div>
      <EntryHashShown entry={entry} />
    </aside>
  )
}

/** What the same host sent, or the same actor did. */
function queryOfWho(entry: Entry): Readonly<Record<string, string>> {
  return entry.agente_id === null
    ? { who: whoOf(entry) }
    : { about: entry.hostname ?? entry.agente_id }
}

function EntryHashShown({ entry }: { readonly entry: Entry }): JSX.Element {
  const { audit } = words()
  const state: EntryHash = useEntryHashes([entry]).get(entry.seq) ?? 'computing'
  const tone = { equal: 'c-ok', other: 'c-bad', computing: 'faint' }[state]
  return (
    <div>
      <h4>
        {audit.hashTitle}
        <CopyButton text={entry.hash_atual} label={audit.copyHash} />
      </h4>
      <div class={`row ${tone}`} data-hash={state}>
        <HashBars hash={entry.hash_atual} />
        {state !== 'computing' && <Icon name={state === 'equal' ? 'check' : 'x'} small />}
        <span>{audit[state]}</span>
      </div>
      <div class="pre mono">{entry.hash_atual}</div>
    </div>
  )
}

interface Earlier {
  readonly key: string
  /** Undefined when none is near. */
  readonly entry: Entry | undefined
}

const EARLIER_MAX = 50

function Changes({
  entry,
  filters,
}: {
  readonly entry: Entry
  readonly filters: EntryFilters
}): JSX.Element | null {
  const { audit } = words()
  const earlier = useEarlier(entry)
  if (earlier === undefined) return null
  if (earlier.entry === undefined) return <p class="muted small">{audit.nothingBefore}</p>
  const { seq, payload } = earlier.entry
  const lines = comparePayloads(payload, entry.payload)
  return (
    <div>
      <h4>
        {audit.changedSince}{' '}
        <a class="link" href={hrefOf(`/audit/${seq}`, toQuery(filters))}>
          {formatCount(seq)}
        </a>
      </h4>
      {lines.length === 0 ? (
        <p class="muted">{audit.unchanged}</p>
      ) : (
        <div class="diff mono">
          {lines.map(({ kind, text }, at) => (
            <div key={at} class={CLASS_OF[kind]}>
              <span>{SIGN_OF[kind]}</span>
              <span>{text}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

const CLASS_OF: Readonly<Record<ChangedLine['kind'], string | undefined>> = {
  field: 'field-name',
  same: undefined,
  added: 'a',
  removed: 'r',
}
const SIGN_OF: Readonly<Record<ChangedLine['kind'], string>> = {
  field: '',
  same: '',
  added: '+',
  removed: '−',
}

/** The last one before it on the same subject; undefined while it is looked for, and where nothing is compared. */
function useEarlier(entry: Entry): Earlier | undefined {
  const [found, setFound] = useState<Earlier | undefined>(undefined)
  const key = `${entry.seq} ${entry.hash_atual}`
  useEffect(() => {
    const act = entry.agente_id === null ? earlierActOf(entry.tipo_evento) : undefined
    if (act === undefined) return setFound(undefined)
    const leaving = new AbortController()
    const request = { tipos: [...act.types], before: entry.seq, last: EARLIER_MAX }
    ask('listEntries', request, { signal: leaving.signal }).then(
      ({ eventos }) => {
        const subject = entry.payload[act.field]
        const last = eventos.findLast(
          ({ agente_id: sender, payload }) => sender === null && payload[act.field] === subject,
        )
        setFound({ key, entry: last })
      },
      // What it changed is not said then; the entry is.
      () => undefined,
    )
    return () => leaving.abort()
  }, [key])
  return found?.key === key ? found : undefined
}
