// Asks a database what a hub has to know before it trusts it. Nothing is written. docs/protocol.md DBS-7.

import { describeError, errnoCode } from '../../../platform/errors.ts'
import { unlessAborted } from '../../../platform/unless-aborted.ts'
import { showHost } from './database-url.ts'
import type { DatabaseFacts, DatabaseLook } from './judge-database.ts'
import {
  type DatabaseServers,
  SESSION_SETTINGS,
  WritableConnection,
} from './writable-connection.ts'

const ASKED = [
  ...Object.keys(SESSION_SETTINGS),
  'server_version',
  'server_version_num',
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'synchronous_standby_names',
]
/** PgBouncer says it of what it does not pass on, and ends a connection by this code when it will not pool it. */
const REFUSED_BY_POOLER = /unsupported startup parameter/
const PROTOCOL_VIOLATION = '08P01'
/** A pooler that takes its servers in turn shows itself in the second round. */
const ROUNDS = 4

/** Never rejects; says in `reason` that the time was over. */
export async function inspectDatabase(
  servers: DatabaseServers,
  { now, signal }: { readonly now: () => Date; readonly signal: AbortSignal },
): Promise<DatabaseLook> {
  try {
    return await unlessAborted(look(servers, now, signal), signal)
  } catch (error) {
    if (signal.aborted)
      return { kind: 'unreachable', reason: 'the database does not answer in time' }
    const reason = describeError(error)
    return REFUSED_BY_POOLER.test(reason) ? { kind: 'pooled' } : { kind: 'unreachable', reason }
  }
}

async function look(
  servers: DatabaseServers,
  now: () => Date,
  signal: AbortSignal,
): Promise<DatabaseLook> {
  using connection = await WritableConnection.open(servers, signal)
  const oneHost = { ...servers, hosts: [connection.host] }
  using other = await WritableConnection.open(oneHost, signal)
  if (await isPooled(connection, other)) return { kind: 'pooled' }
  return { kind: 'seen', facts: await readFacts(connection, servers.user, now) }
}

/** Whether two connections are two sessions, and each stays the same one while the other has a transaction. */
async function isPooled(one: WritableConnection, other: WritableConnection): Promise<boolean> {
  const ofOne = new Set<number>()
  const ofOther = new Set<number>()
  const isShown = (): boolean =>
    ofOne.size > 1 || ofOther.size > 1 || [...ofOther].some((session) => ofOne.has(session))
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      ofOne.add(await findSession(one))
      await other.query('BEGIN')
      ofOther.add(await findSession(other))
      // Before a pool of one server has the first connection wait for the second one's end.
      if (isShown()) return true
      ofOne.add(await findSession(one))
      await other.query('COMMIT')
      // One more than the other has in a round, or a pool of two servers that takes them in turn gives each its own.
      ofOther.add(await findSession(other))
      if (isShown()) return true
    }
    return false
  } catch (error) {
    if (errnoCode(error) === PROTOCOL_VIOLATION) return true
    throw error
  }
}

async function findSession(connection: WritableConnection): Promise<number> {
  const [row] = await connection.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid')
  return row?.pid ?? 0
}

async function readFacts(
  connection: WritableConnection,
  user: string,
  now: () => Date,
): Promise<DatabaseFacts> {
  const names = ASKED.map((name) => `'${name}'`).join(', ')
  const rows = await connection.query<{ readonly name: string; readonly setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN (${names})`,
  )
  const [rights] = await connection.query<{
    readonly schema: string | null
    readonly may_create: boolean | null
  }>(
    "SELECT current_schema() AS schema, has_schema_privilege(current_schema(), 'CREATE') AS may_create",
  )
  return {
    host: showHost(connection.host),
    user,
    settings: Object.fromEntries(rows.map(({ name, setting }) => [name, setting])),
    clockAheadMs: await measureClock(connection, now),
    schema: rights?.schema ?? undefined,
    mayCreateTables: rights?.may_create ?? false,
  }
}

/** Its answer was made about half way between question and arrival. */
async function measureClock(connection: WritableConnection, now: () => Date): Promise<number> {
  const askedMs = now().getTime()
  const [row] = await connection.query<{ readonly ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  )
  const answeredMs = now().getTime()
  return (row?.ms ?? 0) - (askedMs + answeredMs) / 2
}
