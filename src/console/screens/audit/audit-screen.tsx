// The log: whether it is whole, how one entry hangs in it, the entries, and one of them.

import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { UNHURRIED_MS } from '../../api/pace.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { Failure, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatCount, Time } from '../../parts/time.tsx'
import { useEntryLanguage } from '../../words/entry-language.ts'
import { type Words, words } from '../../words/words.ts'
import type { EntryLanguage } from '../../../explain/entry-language.ts'
import type { ScreenProperties } from '../routes.tsx'
import { ChainCard } from './chain-card.tsx'
import { describeLogEntry, toneOf, whoOf } from './describe-log-entry.ts'
import { EntryDetail } from './entry-detail.tsx'
import { type EntryFilters, isFiltered, readFilters, toCommand, toQuery } from './entry-filters.ts'
import { ARRIVED_MAX, type Entry } from './entry-list.ts'
import { FilterBar } from './filter-bar.tsx'
import { ProofCard } from './proof-card.tsx'
import { type Entries, useEntries } from './use-entries.ts'

const AROUND = 2

export function AuditScreen({ seq: seqText }: ScreenProperties): JSX.Element | null {
  const { audit } = words()
  const language = useEntryLanguage()
  useRowKeys()
  const filters = readFilters(here.value.query)
  const entries = useEntries(filters)
  const chosen = parseSeq(seqText)
  const shown = chosen ?? entries.rows[0]?.seq
  const around = useAround(shown)
  if (language === undefined) return null
  return (
    <Screen
      title={audit.title}
      wire="evento"
      commands={[
        toCommand(filters),
        ...(chosen === undefined ? [] : svc.showEntry(chosen)),
        svc.verifyLog,
      ]}
    >
      <ProofCard />
      {shown !== undefined && (
        <ChainCard entries={around ?? []} chosen={shown} filters={filters} language={language} />
      )}
      <section class="card" aria-label={audit.title}>
        <FilterBar filters={filters} arrived={sayArrived(entries)} onReload={entries.reload} />
        <div class={chosen === undefined ? undefined : 'logsplit'}>
          <div class="log-list">
            <List entries={entries} filters={filters} chosen={chosen} language={language} />
          </div>
          {chosen !== undefined && (
            <EntryDetail
              seq={chosen}
              entry={findEntry(chosen, around)}
              filters={filters}
              language={language}
            />
          )}
        </div>
        <Foot entries={entries} />
      </section>
    </Screen>
  )
}

/** A number of nothing is of no entry: the panel says so. */
function parseSeq(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
}

/** The entries around it, oldest first, whatever the list leaves out. */
function useAround(seq: number | undefined): readonly Entry[] | undefined {
  // Five, also beside the first entry and the last one.
  const before = Math.max(seq ?? 0, AROUND + 1) + AROUND + 1
  const { data, error } = useQuery(
    'listEntries',
    seq === undefined ? undefined : { before, last: 2 * AROUND + 1 },
    { paceMs: UNHURRIED_MS },
  ).value
  return data?.eventos ?? (error === undefined ? undefined : [])
}

function findEntry(seq: number, around: readonly Entry[] | undefined): Entry | null | undefined {
  return around === undefined ? undefined : (around.find((entry) => entry.seq === seq) ?? null)
}

function sayArrived({ arrived }: Entries): string | undefined {
  const { audit, frame } = words()
  if (arrived === 0) return undefined
  return arrived >= ARRIVED_MAX ? audit.arrivedMany(arrived) : frame.arrived(arrived)
}

interface ListProperties {
  readonly entries: Entries
  readonly filters: EntryFilters
  readonly chosen: number | undefined
  readonly language: EntryLanguage
}

function List({ entries, filters, chosen, language }: ListProperties): JSX.Element {
  const { audit, frame } = words()
  const { rows, error, isLoading, hasMore } = entries
  const isSplit = chosen !== undefined
  const columns = useMemo(() => columnsIn(audit, language, isSplit), [audit, language, isSplit])
  const isEmpty = rows.length === 0 && !isLoading && error === undefined
  return (
    <>
      {error !== undefined && (
        <Failure error={error} asksAgain={rows.length > 0 ? 'shown' : 'empty'} />
      )}
      {rows.length > 0 && (
        <DataTable
          label={audit.title}
          columns={columns}
          rows={rows}
          total={hasMore ? undefined : rows.length}
          hasMore={hasMore}
          isCurrent={({ seq }) => seq === chosen}
          hrefOf={({ seq }) => hrefOf(`/audit/${seq}`, toQuery(filters))}
          onLook={() => undefined}
          onEnd={entries.more}
        />
      )}
      {isEmpty && (
        <Notice
          title={isFiltered(filters) ? frame.noMatch : frame.empty}
          hint={isFiltered(filters) ? '' : audit.empty}
        >
          {isFiltered(filters) ? (
            <a class="link" href={hrefOf('/audit')}>
              {frame.clear}
            </a>
          ) : (
            <Command text={svc.createToken} />
          )}
        </Notice>
      )}
    </>
  )
}

/** Beside an open entry, who did it stands in the sentence alone. */
function columnsIn(
  audit: Words['audit'],
  language: EntryLanguage,
  isSplit: boolean,
): readonly Column<Entry>[] {
  return [
    {
      name: 'seq',
      label: audit.entry,
      cell: ({ seq }) => <span class="faint">{formatCount(seq)}</span>,
    },
    {
      name: 'time',
      label: audit.time,
      cell: ({ timestamp }) => <Time at={timestamp} withSeconds />,
    },
    ...(isSplit
      ? []
      : [
          {
            name: 'who',
            label: audit.byWhom,
            isWideOnly: true,
            cell: (entry: Entry) => whoOf(entry),
          },
        ]),
    {
      name: 'what',
      label: audit.what,
      cell: (entry) => <What entry={entry} language={language} />,
    },
    {
      name: 'details',
      label: audit.details,
      isWideOnly: true,
      cell: (entry) => <Sentence text={describeLogEntry(entry, language).sentence} />,
    },
  ]
}

function Sentence({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class="muted" title={text}>
      {text}
    </span>
  )
}

function What({
  entry,
  language,
}: {
  readonly entry: Entry
  readonly language: EntryLanguage
}): JSX.Element {
  const described = describeLogEntry(entry, language)
  return (
    <span class="what">
      <b>
        <i class={toneOf(described)} />
        <span>{described.title}</span>
      </b>
      <span class="wire">
        {entry.tipo_evento}
        <span class="narrow-inline"> · {whoOf(entry)}</span>
      </span>
    </span>
  )
}

function Foot({ entries }: { readonly entries: Entries }): JSX.Element {
  const { audit } = words()
  const { rows, hidden, missing } = entries
  const [newest] = rows
  const oldest = rows.at(-1)
  return (
    <div class="foot">
      <span class="num">
        {newest !== undefined &&
          oldest !== undefined &&
          audit.range(formatCount(oldest.seq), formatCount(newest.seq))}
        {hidden !== undefined && hidden > 0 && ` · ${audit.hidden(formatCount(hidden))}`}
        {missing > 0 && ` · ${audit.missing(formatCount(missing))}`}
      </span>
      <span class="wide row">
        <kbd>J</kbd> <kbd>K</kbd> {audit.keysHint} <kbd>↵</kbd> {audit.openHint}
      </span>
    </div>
  )
}
