import { parseDurationMs } from '../../../platform/durations.ts'
import type { ENTRY_GROUPS } from '../../../protocol/admin/bounds.ts'
import { UserError } from '../../../platform/errors.ts'
import { parseInstant } from '../../../platform/instants.ts'
import type { KeptCheckpoint } from './verify-log.ts'
import type { EntryQuery } from './read-entries.ts'

export interface EventoListOptions {
  readonly verify?: true
  readonly tipo?: readonly string[]
  readonly agente?: string
  readonly about?: string
  readonly actor?: string
  readonly by?: (typeof ENTRY_GROUPS)[number]
  /** Commander's, of `--no-routine`. */
  readonly routine?: boolean
  readonly since?: string
  readonly until?: string
  readonly limit?: string
  readonly after?: string
  readonly before?: string
  readonly follow?: true
  readonly checkpoint?: string
  readonly key?: string
  readonly json?: true
}

export interface EntryListing {
  readonly query: EntryQuery
  readonly limit: number | undefined
  /** The number after which it begins. */
  readonly after: number | undefined
  /** What verification holds the log against. */
  readonly kept: KeptCheckpoint | undefined
  /** Nothing is left out. */
  readonly isWholeLog: boolean
}

/** What is held in memory to find the newest ones. */
const LIMIT_MAX = 100_000
const DATE = /^\d{4}-\d\d-\d\d$/

export function parseEntryListing(options: EventoListOptions, now: Date): EntryListing {
  if (options.follow && options.verify) {
    throw new UserError('usage', '--verify and --follow do not go together', {
      hint: 'verify first, then follow: svc can verify only a log that has an end',
    })
  }
  refuseContradictions(options)
  const kept = parseKept(options)
  const query = parseQuery(options, now)
  const limit = options.limit === undefined ? undefined : parseLimit(options.limit)
  const after = options.after === undefined ? undefined : parseSeq('--after', options.after)
  const isWhole = limit === undefined && after === undefined && Object.keys(query).length === 0
  return { query, limit, after, kept, isWholeLog: isWhole }
}

function parseKept({ verify, checkpoint, key }: EventoListOptions): KeptCheckpoint | undefined {
  if ((checkpoint ?? key) === undefined) return undefined
  if (verify) return { path: checkpoint, key }
  throw new UserError('usage', '--checkpoint and --key go with --verify', {
    hint: 'add --verify',
  })
}

function refuseContradictions(options: EventoListOptions) {
  const { agente, about, actor, by, before, until, follow } = options
  if (by !== undefined && (agente ?? actor) !== undefined) {
    throw new UserError('usage', '--by goes neither with --actor nor with --agent', {
      hint: '--actor names one of the people, --agent one of the hosts',
    })
  }
  if (agente !== undefined && (about ?? actor) !== undefined) {
    throw new UserError('usage', '--agent goes neither with --about nor with --actor', {
      hint: '--agent lists what the agent sent, --about also what was done to it',
    })
  }
  if (follow && (before ?? until) !== undefined) {
    throw new UserError('usage', '--follow goes neither with --before nor with --until', {
      hint: 'svc follows new events, which come after all others',
    })
  }
}

function parseQuery(options: EventoListOptions, now: Date): EntryQuery {
  const { tipo: tipos = [], agente, about, actor, by, routine, since, until, before } = options
  const [tipo] = tipos
  return {
    ...(tipos.length > 1 ? { tipos: [...tipos] } : tipo !== undefined && { tipo }),
    ...(agente !== undefined && { agente }),
    ...(about !== undefined && { about }),
    ...(actor !== undefined && { actor }),
    ...(by !== undefined && { by }),
    ...(routine === false && { routine }),
    ...(since !== undefined && { since: parseTimeOption('--since', since, now) }),
    ...(until !== undefined && { until: parseTimeOption('--until', until, now) }),
    ...(before !== undefined && { before: Math.max(1, parseSeq('--before', before)) }),
  }
}

export function parseTimeOption(
  option: '--since' | '--until' | '--before' | '--from' | '--to',
  text: string,
  now: Date,
): string {
  const agoMs = parseDurationMs(text)
  const time = agoMs === undefined ? parseTime(text) : timeBefore(now, agoMs)
  if (time === undefined) {
    throw new UserError('since_invalid', `${option}: ${text} is neither a time nor a duration`, {
      hint: 'write it as 2026-01-31T12:00:00Z, 2026-01-31 or 24h',
    })
  }
  return time.toISOString()
}

/** No entry is older than what counts the time. */
function timeBefore(now: Date, agoMs: number): Date {
  return new Date(Math.max(0, now.getTime() - agoMs))
}

/** A date alone is its midnight in UTC. */
function parseTime(text: string): Date | undefined {
  return parseInstant(DATE.test(text) ? `${text}T00:00:00Z` : text.replace(' ', 'T'))
}

function parseLimit(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw new UserError(
      'limit_invalid',
      `--limit: ${text} is not a number from 1 to ${LIMIT_MAX}`,
      { hint: 'without --limit svc lists the whole log' },
    )
  }
  return limit
}

export function parseSeq(
  option: '--after' | '--before' | '--add-checkpoint' | '<seq>',
  text: string,
): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UserError(
    `${option.replaceAll(/[<>]|^--/g, '').replace('-', '_')}_invalid`,
    `${option}: ${text} is not the number of an event`,
    {
      hint: 'the column SEQ of svc event list shows the numbers',
    },
  )
}
