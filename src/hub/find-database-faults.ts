// The database of SVC_DATABASE_URL, before a hub trusts it with its journal: for `svc-server --check` and `svc doctor`.

import type { Clock } from '../platform/clock.ts'
import { SvcError } from '../platform/errors.ts'
import type { DatabaseFinding } from '../protocol/admin/database-finding.ts'
import { showHost } from './store/postgres/database-url.ts'
import { inspectDatabase } from './store/postgres/inspect-database.ts'
import { type DatabaseReplication, judgeDatabase } from './store/postgres/judge-database.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'

export interface DatabaseReport {
  /** The server that was asked; all of them where none was reached. */
  readonly name: string
  readonly findings: readonly DatabaseFinding[]
}

const LOOK_MS_MAX = 4000

/** Before a hub trusts it with its journal. Throws SvcError `database_unfit`; one that is not there is none of this. */
export async function refuseUnfitDatabase(
  servers: DatabaseServers,
  replication: DatabaseReplication,
  clock: Pick<Clock, 'now'>,
  onWarning: (message: string) => void,
): Promise<void> {
  const { findings } = await findDatabaseFaults(servers, {
    now: () => clock.now(),
    replication,
    signal: AbortSignal.timeout(LOOK_MS_MAX),
  })
  for (const { fault, status, message } of findings) {
    if (fault === 'unreachable') continue
    if (status === 'warning') onWarning(message)
    else throw new SvcError('database_unfit', message, { hint: 'svc doctor says what to do' })
  }
}

export async function findDatabaseFaults(
  servers: DatabaseServers,
  {
    now,
    replication,
    signal,
  }: {
    readonly now: () => Date
    readonly replication: DatabaseReplication
    readonly signal: AbortSignal
  },
): Promise<DatabaseReport> {
  const look = await inspectDatabase(servers, { now, signal })
  const findings = judgeDatabase(look, replication)
  if (look.kind !== 'seen') return { name: servers.hosts.map(showHost).join(', '), findings }
  const { host, settings } = look.facts
  return { name: `PostgreSQL ${settings['server_version']} at ${host}`, findings }
}
