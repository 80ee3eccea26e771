// The print view: what was asked, what the log answers with whole hashes, and on what that rests. Black on white.

import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { EntryLanguage } from '../../../explain/entry-language.ts'
import { useQuery } from '../../api/query.ts'
import { session } from '../../api/session.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { describeFully, formatCount } from '../../parts/time.tsx'
import { usePrintedEntryLanguage } from '../../words/entry-language.ts'
import { words } from '../../words/words.ts'
import { useEntryHashes } from '../audit/check-entry.ts'
import { decideLogVerdict } from '../audit/decide-log-verdict.ts'
import { describeLogEntry, whoOf } from '../audit/describe-log-entry.ts'
import {
  type EntryFilters,
  HOSTS,
  PEOPLE,
  readFilters,
  toCommand,
  toQuery,
  toRequest,
} from '../audit/entry-filters.ts'
import { titleOfFinding } from '../audit/finding-details.tsx'
import { beginLogCheck, logCheck } from '../audit/log-check.ts'
import type { Entry } from '../audit/entry-list.ts'

/** More is for a file: `svc evidence`. */
const ENTRIES_MAX = 500
/** The answer is that of when it was asked for: what is printed does not move. */
const STAYS = { tipos: [] }

export function EvidenceScreen(): JSX.Element | null {
  const { audit } = words()
  const language = usePrintedEntryLanguage()
  useEffect(beginLogCheck, [])
  const filters = readFilters(here.value.query)
  const shown = useQuery('listEntries', { ...toRequest(filters), last: ENTRIES_MAX }, STAYS).value
  if (language === undefined) return null
  return (
    <Screen
      title={audit.evidenceTitle}
      above={[audit.title, hrefOf('/audit', toQuery(filters))]}
      commands={[toCommand(filters), svc.packEvidence]}
    >
      <article class="evidence">
        <div class="row no-print">
          <button type="button" class="button primary" onClick={() => print()}>
            <Icon name="printer" small />
            {audit.print.print}
          </button>
          <a class="button" href={hrefOf('/audit', toQuery(filters))}>
            {audit.print.back}
          </a>
        </div>
        <Grounds filters={filters} atMs={shown.atMs} />
        <Answer shown={shown}>
          {({ eventos, next }) => (
            <EntryList entries={eventos.toReversed()} isCut={next !== null} language={language} />
          )}
        </Answer>
      </article>
    </Screen>
  )
}

function Grounds({
  filters,
  atMs,
}: {
  readonly filters: EntryFilters
  readonly atMs: number | undefined
}): JSX.Element {
  const { audit, sayCommand } = words()
  const { print: say } = audit
  const { value: who } = session
  const { data: status } = useQuery('showStatus', {}, STAYS).value
  const { data: signed } = useQuery('showCheckpoint', {}, STAYS).value
  const { anchor } = logCheck.value
  const head = signed?.head
  return (
    <section aria-labelledby="evidence-question">
      <h2 id="evidence-question">{describeQuestion(filters)}</h2>
      <dl class="grounds">
        <dt>{say.who}</dt>
        <dd>{who.state === 'in' && say.whoAs(who.name, who.role)}</dd>
        <dt>{say.at}</dt>
        <dd>
          {atMs !== undefined && (
            <>
              {describeFully(new Date(atMs).toISOString())} ({new Date(atMs).toISOString()})
            </>
          )}
        </dd>
        <dt>{say.hub}</dt>
        <dd>
          {location.host}
          {status !== undefined && `, ${say.version(status.version)}`}
        </dd>
        <dt>{say.key}</dt>
        <dd>
          <code>{signed?.key ?? say.none}</code>
        </dd>
        <dt>{say.head}</dt>
        <dd>
          {head === undefined || head === null ? (
            say.none
          ) : (
            <>
              {say.headOf(formatCount(head.seq), head.timestamp)}
              <br />
              <code>{head.hash_atual}</code>
            </>
          )}
        </dd>
        <dt>{say.checkpoint}</dt>
        <dd>
          <pre>{signed?.checkpoint ?? say.none}</pre>
        </dd>
        <dt>{say.anchor}</dt>
        <dd>
          {anchor === undefined ? (
            say.none
          ) : (
            <>
              {say.anchorOf(formatCount(anchor.place.seq), anchor.keptAt)}
              <br />
              <code>{anchor.place.hash}</code>
            </>
          )}
        </dd>
        <dt>{say.check}</dt>
        <dd>{describeCheck()}</dd>
      </dl>
      <p>
        {say.trust} <code>{svc.verifyExport.map(sayCommand).join(' && ')}</code>
      </p>
    </section>
  )
}

function describeCheck(): string {
  const { audit } = words()
  const say = audit.verdict
  const verdict = decideLogVerdict(logCheck.value)
  if (verdict.kind === 'good') return say.good(formatCount(verdict.entries))
  if (verdict.kind === 'bad') return titleOfFinding(verdict.finding)
  if (verdict.kind === 'running') return say.running(formatCount(verdict.left))
  if (verdict.kind === 'stopped' || verdict.kind === 'waiting') {
    return say.stopped(formatCount(verdict.left))
  }
  return audit.print.none
}

/** The filters in words, as an auditor reads them. */
function describeQuestion(filters: EntryFilters): string {
  const { print: say } = words().audit
  const { about, who, types, from, until, isRoutineShown } = filters
  const parts = [
    about === undefined ? '' : say.questionAbout(about),
    describeWho(who),
    types.length === 0 ? '' : say.questionTypes(types.join(', ')),
    from === undefined ? '' : say.questionFrom(from),
    until === undefined ? '' : say.questionUntil(until),
    isRoutineShown ? say.questionWithRoutine : say.questionRoutine,
  ]
  return `${say.questionAll} ${parts.filter((part) => part !== '').join(', ')}`
}

function describeWho(who: string | undefined): string {
  const { print: say } = words().audit
  if (who === undefined) return ''
  if (who === PEOPLE) return say.questionPeople
  return who === HOSTS ? say.questionHosts : say.questionBy(who)
}

function EntryList({
  entries,
  isCut,
  language,
}: {
  readonly entries: readonly Entry[]
  readonly isCut: boolean
  readonly language: EntryLanguage
}): JSX.Element {
  const { audit } = words()
  const { print: say } = audit
  const hashes = useEntryHashes(entries)
  if (entries.length === 0) return <p>{say.nothing}</p>
  return (
    <section aria-labelledby="evidence-entries">
      <h2 id="evidence-entries">{say.entries(formatCount(entries.length))}</h2>
      {isCut && <p>{say.cut(formatCount(entries.length))}</p>}
      <ol class="printed">
        {entries.map((entry) => (
          <li key={entry.seq}>
            <h3>
              {formatCount(entry.seq)} · {describeLogEntry(entry, language).title}{' '}
              <code>{entry.tipo_evento}</code>
            </h3>
            <p>
              <time dateTime={entry.timestamp}>{entry.timestamp}</time> · {whoOf(entry)} ·{' '}
              {describeLogEntry(entry, language).sentence}
            </p>
            <pre>{entry.payload_text}</pre>
            <p>
              {audit.before} <code>{entry.hash_anterior}</code>
              <br />
              {audit.hash} <code>{entry.hash_atual}</code>{' '}
              {audit[hashes.get(entry.seq) ?? 'computing']}
            </p>
          </li>
        ))}
      </ol>
    </section>
  )
}
