// What a hub refuses of a database before it trusts it with its journal, and what it warns of. docs/protocol.md DBS-7, DBS-8.

import { formatDurationMs } from '../../../platform/durations.ts'
import type { DatabaseFinding } from '../../../protocol/admin/database-finding.ts'
import { SESSION_SETTINGS } from './writable-connection.ts'

/** `engine`: something below the server keeps copies, which `synchronous_standby_names` does not show. */
export type DatabaseReplication = 'standby' | 'engine'

/** What the server that takes writes says on a connection of the hub. */
export interface DatabaseFacts {
  /** As people write it, with its port. */
  readonly host: string
  readonly user: string
  /** `pg_settings` of the session, as the server writes them. */
  readonly settings: Readonly<Record<string, string>>
  readonly clockAheadMs: number
  /** The one in which a table without a schema would be made; undefined where there is none. */
  readonly schema: string | undefined
  readonly mayCreateTables: boolean
}

/** `pooled`: other sessions come between two transactions of one connection. */
export type DatabaseLook =
  | { readonly kind: 'seen'; readonly facts: DatabaseFacts }
  | { readonly kind: 'pooled' }
  | { readonly kind: 'unreachable'; readonly reason: string }

const VERSION_MIN = 150_000
const CLOCK_WARNING_MS = 2000
const CLOCK_MS_MAX = 30_000
const DURABLE = ['on', 'remote_apply']

export function judgeDatabase(
  look: DatabaseLook,
  replication: DatabaseReplication,
): DatabaseFinding[] {
  if (look.kind === 'unreachable') return [failed('unreachable', look.reason)]
  if (look.kind === 'pooled') {
    return [failed('pooled', 'transaction pooling in front of the database: connect directly')]
  }
  const { facts } = look
  return [
    ...judgeVersion(facts),
    ...judgeSession(facts),
    ...judgeDurability(facts, replication),
    ...judgeClock(facts),
    ...judgeRights(facts),
  ]
}

function failed(fault: DatabaseFinding['fault'], message: string): DatabaseFinding {
  return { fault, status: 'failed', message }
}

function judgeVersion({ host, settings }: DatabaseFacts): DatabaseFinding[] {
  if (Number(settings['server_version_num']) >= VERSION_MIN) return []
  const version = settings['server_version'] ?? 'of an unknown version'
  return [failed('version', `${host} is PostgreSQL ${version}: the hub needs 15 or later`)]
}

function judgeSession({ settings }: DatabaseFacts): DatabaseFinding[] {
  const lost = Object.entries(SESSION_SETTINGS).flatMap(([name, value]) =>
    settings[name] === String(value) ? [] : [name],
  )
  if (lost.length === 0) return []
  const what = lost.join(', ')
  return [
    failed(
      'session_altered',
      `something in front of the database drops what the hub asks of its session (${what}): connect directly`,
    ),
  ]
}

function judgeDurability(
  { settings }: DatabaseFacts,
  replication: DatabaseReplication,
): DatabaseFinding[] {
  const found: DatabaseFinding[] = []
  const { fsync, full_page_writes, synchronous_commit = 'unknown' } = settings
  if (fsync === 'off') {
    found.push(failed('fsync', 'fsync is off: a crash loses what the database has acknowledged'))
  }
  if (full_page_writes === 'off') {
    const message = 'full_page_writes is off: a crash can damage pages of the database'
    found.push(failed('full_page_writes', message))
  }
  if (!DURABLE.includes(synchronous_commit)) {
    const message = `synchronous_commit is ${synchronous_commit}, though the hub asks for on: a crash loses what the database has acknowledged`
    found.push(failed('synchronous_commit', message))
  }
  if (settings['synchronous_standby_names'] === '' && replication === 'standby') {
    const message =
      'synchronous_standby_names is empty: a failover loses what the database has acknowledged'
    found.push({ fault: 'no_standby', status: 'warning', message })
  }
  return found
}

function judgeClock({ clockAheadMs }: DatabaseFacts): DatabaseFinding[] {
  const offMs = Math.abs(clockAheadMs)
  if (offMs <= CLOCK_WARNING_MS) return []
  const by = formatDurationMs(Math.round(offMs / 1000) * 1000)
  const message = `the clock of the database is ${by} ${clockAheadMs < 0 ? 'behind' : 'ahead of'} the hub’s`
  return [{ fault: 'clock', status: offMs > CLOCK_MS_MAX ? 'failed' : 'warning', message }]
}

function judgeRights({ user, schema, mayCreateTables }: DatabaseFacts): DatabaseFinding[] {
  if (mayCreateTables) return []
  const message =
    schema === undefined
      ? `the search_path of ${user} leads to no schema`
      : `${user} may make no tables in the schema ${schema}`
  return [failed('rights', message)]
}
