// The database that several hubs share. docs/protocol.md DOC-28.

import { quoteForShell } from '../platform/quote-for-shell.ts'
import type { DatabaseFault } from '../protocol/admin/database-finding.ts'
import { type Advice, fault, type Finding, ok, warning } from './finding.ts'
import type { DatabaseFacts } from './scene.ts'

const LOSS = 'hubs believe what was lost: a token is used twice, a revocation is forgotten'

/** `settings` is the file in which they are, for who edits it. */
export function judgeDatabase(facts: DatabaseFacts | undefined, settings: string): Finding[] {
  if (facts === undefined) return [ok('the vault is this hub’s alone: no SVC_DATABASE_URL')]
  const edit = [`editor ${quoteForShell(settings)}`]
  const found = facts.findings.map(({ fault: what, status, message }) => {
    const advice = { commands: edit, ...ADVICE[what] }
    return status === 'failed' ? fault(message, advice) : warning(message, advice)
  })
  return found.length > 0 ? found : [ok(`${facts.name} can have the hub’s journal`)]
}

const ADVICE: Readonly<Record<DatabaseFault, Advice>> = {
  unreachable: {
    why: 'a hub that shares its vault takes no writes without the database',
    remedy: 'start the database, open the way to it, or correct SVC_DATABASE_URL',
  },
  pooled: {
    why: 'what the hub locks and sets would be in the sessions of others',
    remedy: 'name the PostgreSQL servers themselves in SVC_DATABASE_URL, not a pooler',
  },
  session_altered: {
    why: 'a hub that is frozen would hold up all others',
    remedy: 'name the PostgreSQL servers themselves in SVC_DATABASE_URL, not a pooler',
  },
  version: {
    why: 'the hub is tested with PostgreSQL 15 and later only',
    remedy: 'upgrade the database server',
  },
  fsync: {
    why: LOSS,
    remedy: 'on the database server: ALTER SYSTEM RESET fsync; SELECT pg_reload_conf();',
  },
  full_page_writes: {
    why: 'a page that is written by half is lost, with the journal in it',
    remedy: 'on the database server: ALTER SYSTEM RESET full_page_writes; SELECT pg_reload_conf();',
  },
  synchronous_commit: {
    why: LOSS,
    remedy: 'find what changes it on the way: a pooler that drops the options of a connection',
  },
  no_standby: {
    why: LOSS,
    remedy:
      'give the database a synchronous standby (Patroni: synchronous_mode and synchronous_mode_strict); where it keeps copies in its own way, set SVC_DATABASE_REPLICATION=engine',
  },
  clock: {
    why: 'times in the log and ends of tokens would jump between one hub and another',
    remedy: 'set the clock that is wrong, and keep both by NTP',
    commands: ['date --utc', 'timedatectl status'],
  },
  rights: {
    why: 'the hub makes the tables of its journal, and those of later versions',
    remedy:
      'give the hub’s role a schema of its own, as an administrator of the database: CREATE SCHEMA AUTHORIZATION, and the role',
  },
}
