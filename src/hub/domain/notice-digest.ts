// Messages as people read them: a few sentences for however many entries, the urgent ones first, and a count of what is left out.
// docs/protocol.md WHK-28.

import { describeEntry } from '../../explain/describe-entry.ts'
import type { EntryDescription, EntryLanguage } from '../../explain/entry-language.ts'
import type { EntrySeverity } from '../../explain/entry-kinds.ts'
import { WEBHOOK_TEST } from '../../protocol/words.ts'
import type { WebhookMessage } from './webhook-message.ts'

export interface NoticeSource {
  /** The hub's name. */
  readonly hostname: string
  /** Where the console is, without a slash at its end; undefined where nobody said so. */
  readonly consoleUrl: string | undefined
  readonly language: EntryLanguage
}

export interface NoticeDigest {
  /** One line of at most 150 characters. */
  readonly title: string
  readonly groups: readonly NoticeGroup[]
  /** Who says so, and how many entries there are beyond the groups. */
  readonly notes: readonly string[]
}

/** Entries of one kind. */
export interface NoticeGroup {
  readonly title: string
  readonly lines: readonly NoticeLine[]
  /** What is not among the lines, in words; undefined when all are. */
  readonly more: string | undefined
}

export interface NoticeLine {
  readonly sentence: string
  readonly link: { readonly url: string; readonly label: string } | undefined
}

const LINES_MAX = 3
const GROUPS_MAX = 6
const TITLE_CHARACTERS_MAX = 150
/** A name of anything else is no label: it could be read as markup. */
const PLAIN_LABEL = /^[A-Za-z0-9][A-Za-z0-9.-]{0,63}$/
const ORDER: readonly EntrySeverity[] = ['urgent', 'notable', 'routine']

export function composeDigest(
  messages: readonly WebhookMessage[],
  source: NoticeSource,
): NoticeDigest {
  const { digest: words } = source.language
  const entries = messages.map((message) => describeMessage(message, source.language))
  const groups = groupByKind(entries)
  const shown = groups.slice(0, GROUPS_MAX)
  const others = groups.slice(GROUPS_MAX).reduce((sum, group) => sum + group.length, 0)
  return {
    title: titleOf(groups, source.language),
    groups: shown.map((group) => composeGroup(group, source)),
    notes: [
      ...(others > 0 ? [words.others(others)] : []),
      words.source(source.hostname, entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0),
    ],
  }
}

interface Described extends EntryDescription {
  readonly seq: number
}

function describeMessage({ type, data }: WebhookMessage, language: EntryLanguage): Described {
  const { seq, agente_id: agentId, hostname, payload } = data
  if (typeof seq !== 'number' && type === WEBHOOK_TEST) return { ...language.digest.test, seq: 0 }
  const entry = {
    seq: typeof seq === 'number' ? seq : 0,
    type,
    payload,
    agentId: typeof agentId === 'string' ? agentId : null,
    hostname: typeof hostname === 'string' ? hostname : null,
  }
  return { ...describeEntry(entry, language), seq: entry.seq }
}

/** The urgent kinds first, then as they came. */
function groupByKind(entries: readonly Described[]): readonly (readonly Described[])[] {
  const byTitle = Map.groupBy(entries, ({ title }) => title)
  const rank = ([first]: readonly Described[]): number =>
    ORDER.indexOf(first?.severity ?? 'routine')
  return [...byTitle.values()].toSorted((one, other) => rank(one) - rank(other))
}

function composeGroup(group: readonly Described[], source: NoticeSource): NoticeGroup {
  const lines = group.slice(0, LINES_MAX)
  const left = group.length - lines.length
  return {
    title: group[0]?.title ?? '',
    lines: lines.map((entry) => ({ sentence: entry.sentence, link: linkOf(entry, source) })),
    more: left === 0 ? undefined : source.language.digest.more(left),
  }
}

function linkOf(
  { path, seq, subject }: Described,
  { consoleUrl, language }: NoticeSource,
): NoticeLine['link'] {
  if (consoleUrl === undefined) return undefined
  const isPlain = subject !== null && PLAIN_LABEL.test(subject)
  return { url: consoleUrl + path, label: isPlain ? subject : language.digest.entry(seq) }
}

function titleOf(
  groups: readonly (readonly Described[])[],
  { digest: { count, others } }: EntryLanguage,
): string {
  const [first = [], ...rest] = groups
  const [only] = first
  const left = rest.reduce((sum, group) => sum + group.length, 0)
  const about = first.length === 1 ? (only?.subject ?? undefined) : count(first.length)
  const head = [only?.title, about].filter((part) => part !== undefined).join(': ')
  const title = left === 0 ? head : `${head}, ${others(left)}`
  return Array.from(title).slice(0, TITLE_CHARACTERS_MAX).join('')
}
