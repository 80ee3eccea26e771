// An entry of the log for a person: what happened, why, and where to look. Pure, and free of Node, so that a browser says the same.
// What is in a payload is what others wrote: each word of it is bounded and visible, and means nothing to whatever shows it.

import { type EntryKind, kindOf, type KnownEventType } from './entry-kinds.ts'
import type { EntryDescription, EntryFacts, EntryLanguage } from './entry-language.ts'
import { visibleText } from './visible-text.ts'

/** As the log has it, with its payload as it was parsed. */
export interface DescribableEntry {
  readonly seq: number
  readonly type: string
  readonly payload: unknown
  /** Of the sender; null for an act of the hub. */
  readonly agentId: string | null
  /** Of the sender, where it is known. */
  readonly hostname: string | null
}

const UNKNOWN_KIND: EntryKind = { severity: 'routine', page: 'entry' }
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TEXT_CHARACTERS_MAX = 120
const SENTENCE_CHARACTERS_MAX = 300
const LIST_MAX = 4

export function describeEntry(entry: DescribableEntry, language: EntryLanguage): EntryDescription {
  const isFromAgent = entry.agentId !== null
  const kind = kindOf(entry.type, isFromAgent)
  const words =
    (kind && language.known[entry.type as KnownEventType]) ??
    language.unknown(visibleText(entry.type, TEXT_CHARACTERS_MAX), isFromAgent)
  const payload = isObject(entry.payload) ? entry.payload : {}
  const facts = factsOf(entry, payload, language)
  return {
    severity: (kind ?? UNKNOWN_KIND).severity,
    title: words.title,
    sentence: visibleText(words.sentence(facts), SENTENCE_CHARACTERS_MAX),
    subject: subjectOf(entry, payload, facts),
    path: pathOf(kind ?? UNKNOWN_KIND, entry, payload),
  }
}

type Payload = Readonly<Record<string, unknown>>

function factsOf(
  { agentId, hostname }: DescribableEntry,
  payload: Payload,
  { aHost, momentOf = momentInUtc }: EntryLanguage,
): EntryFacts {
  const text = (field: string): string | undefined => visible(own(payload, field))
  const sender = visible(hostname) ?? agentId ?? undefined
  const actor = text('actor')
  return {
    // An agent speaks of itself, whatever host its payload names.
    host: (agentId === null ? (text('hostname') ?? text('agente_id')) : sender) ?? aHost,
    actor: actor === undefined || actor === 'hub' ? undefined : actor,
    text,
    say: (otherwise, ...fields) =>
      fields.map(text).find((found) => found !== undefined) ?? otherwise,
    number: (field) => {
      const value = own(payload, field)
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    },
    moment: (field) => {
      const at = parseTime(own(payload, field))
      return at === undefined ? undefined : momentOf(at)
    },
    list: (field) => {
      const value = own(payload, field)
      if (!Array.isArray(value)) return []
      return value.slice(0, LIST_MAX).flatMap((each: unknown) => visible(each) ?? [])
    },
  }
}

function subjectOf(
  { agentId, hostname }: DescribableEntry,
  payload: Payload,
  { text }: EntryFacts,
): string | null {
  if (agentId !== null) return visible(hostname) ?? agentId
  return text('hostname') ?? text('nome') ?? text('name') ?? visible(payload['origin']) ?? null
}

function pathOf({ page }: EntryKind, { seq, agentId }: DescribableEntry, payload: Payload): string {
  const entryPath = `/audit/${seq}`
  const ofId = (folder: string, id: unknown): string =>
    typeof id === 'string' && UUID.test(id) ? `/${folder}/${id}` : entryPath
  if (page === 'host') return ofId('hosts', agentId ?? own(payload, 'agente_id'))
  if (page === 'cargo') return ofId('cargo', own(payload, 'carga_id'))
  if (page === 'webhook') return ofId('webhooks', own(payload, 'webhook_id'))
  return page === 'entry' ? entryPath : `/${page}`
}

/** Undefined for what has nothing to see in it. */
function visible(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  const shown = typeof value === 'string' ? visibleText(value, TEXT_CHARACTERS_MAX) : ''
  return shown === '' ? undefined : shown
}

function parseTime(value: unknown): Date | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) return undefined
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : new Date(at)
}

/** `2026-11-21 12:00 UTC`. */
function momentInUtc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function own(payload: Payload, field: string): unknown {
  return Object.hasOwn(payload, field) ? payload[field] : undefined
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
