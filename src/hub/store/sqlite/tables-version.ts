// Which version the tables of a database have, and which programs may use them: those that know them, and those that know the version from
// which on they are readable. docs/protocol.md JRN-14, JRN-15.

import { StoreError } from '../store-error.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Migration } from './migration.ts'
import type { SqlSession } from './sql-session.ts'

/** What brings tables of one version to another, in one transaction. */
export interface TablesStep {
  readonly from: number
  readonly to: number
  /** Programs that know this version may use the tables from then on. */
  readonly readableFrom: number
  readonly sql: readonly string[]
}

/** Undefined for tables of the newest version, or of a newer one. */
export function nextTablesStep(
  version: number,
  migrations: readonly Migration[] = MIGRATIONS,
): TablesStep | undefined {
  if (version >= migrations.length) return undefined
  return {
    from: version,
    to: migrations.length,
    readableFrom: Math.max(...migrations.map(({ readableFrom }) => readableFrom)),
    sql: migrations.slice(version).map(({ sql }) => sql),
  }
}

/** Inside of a transaction. How many rows it changed. */
export function runTablesStep(session: SqlSession, step: TablesStep): number {
  const { from, to, readableFrom, sql } = step
  const here = selectTablesVersion(session)
  if (here !== from) {
    throw new StoreError(
      'store_diverged',
      `the step is one of tables of format ${from}, these have format ${here}`,
    )
  }
  const rowsChanged = session.runScripts(sql)
  session.runQuietly(
    'UPDATE formato SET versao = ?, legivel_desde = ? WHERE id = 1',
    to,
    readableFrom,
  )
  session.runScripts([`PRAGMA user_version = ${to}`])
  return rowsChanged
}

export function selectTablesVersion(session: SqlSession): number {
  return session.column<number>('PRAGMA user_version')[0] ?? 0
}

/** Whether a program that knows these migrations may use the tables. */
export function areTablesUsable(session: SqlSession, migrations = MIGRATIONS): boolean {
  const version = selectTablesVersion(session)
  if (version <= migrations.length) return true
  const isSaid = session.get(`SELECT 1 FROM sqlite_schema WHERE name = 'formato'`) !== undefined
  if (!isSaid) return false
  const row = session.get<{ versao: number; legivel_desde: number }>(
    'SELECT versao, legivel_desde FROM formato WHERE id = 1',
  )
  return row?.versao === version && row.legivel_desde <= migrations.length
}
