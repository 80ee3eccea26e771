// Fills the tables of a new vault, so that they are as a hub would have left them: every index, trigger and chained hash is
// there at the end. To be done in minutes it drops indexes and triggers first and makes them again from the schema's own
// text; nothing is safe against a crash meanwhile, and a vault that was half filled is thrown away.

import { invariant } from '../src/platform/errors.ts'
import { type Connection, openWriter } from '../src/hub/store/sqlite/encrypted-database.ts'
import { CARGO_COUNTS_OF_ALL } from '../src/hub/store/sqlite/cargo-counts-tables.ts'
import { INDEX_ALL_ACTS } from '../src/hub/store/sqlite/entry-subjects-tables.ts'
import { FIRST_ENDS_OF_ALL } from '../src/hub/store/sqlite/first-ends-tables.ts'
import { COUNT_ALL } from '../src/hub/store/sqlite/fleet-counts-tables.ts'
import { SUMMARY_COUNTS_OF_ALL } from '../src/hub/store/sqlite/fleet-summary-tables.ts'
import { type AuditHead, openAuditHeadFile } from '../src/hub/vault/audit-head.ts'
import type { UnsealedVault } from '../src/hub/vault/vault.ts'
import { vaultFiles } from '../src/hub/vault/vault-files.ts'
import { fillFleet } from './filled-fleet.ts'
import { fillLog } from './filled-log.ts'
import { type FilledSizes, planFleet } from './planned-fleet.ts'

/** The past of the vault ends at `now`: nothing in it has expired or is late then. */
export function fillVault(
  vault: UnsealedVault,
  sizes: FilledSizes,
  now: Date,
  progress: (text: string) => void,
): void {
  const fleet = planFleet(sizes, now)
  fillTables(vault, progress, {
    rows: (connection) => fillFleet(connection, fleet, progress),
    log: (connection) => fillLog(connection, fleet, progress),
  })
}

export interface TableFiller {
  rows(connection: Connection): void
  /** Answers the head of the log. */
  log(connection: Connection): AuditHead
}

/** The tables of a new vault, filled by others with what stands in them alone; all that follows from it is made here. */
export function fillTables(
  vault: UnsealedVault,
  progress: (text: string) => void,
  filler: TableFiller,
): void {
  const connection = openWriter(vault.databasePath, vault.dataKey)
  try {
    // Nothing else has this file open, and it can be made again.
    for (const pragma of HASTY) connection.pragma(pragma)
    const restore = takeOff(connection)
    inOneTransaction(connection, () => filler.rows(connection))
    const head = inOneTransaction(connection, () => filler.log(connection))
    inOneTransaction(connection, () => restore(progress))
    progress('foreign keys')
    const faults = connection.pragma('foreign_key_check') as unknown[]
    invariant(faults.length === 0, 'every foreign key has its row')
    connection.pragma('journal_mode = WAL')
    const headFile = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
    headFile.reset(head)
    headFile.close()
  } finally {
    connection.close()
  }
}

const HASTY = [
  'locking_mode = EXCLUSIVE',
  'journal_mode = OFF',
  'synchronous = OFF',
  'cache_size = -524288',
  'foreign_keys = OFF',
]

interface SchemaRow {
  readonly type: 'index' | 'trigger'
  readonly name: string
  readonly sql: string
}

/** Drops what makes single rows dear, and answers what puts it back. */
function takeOff(connection: Connection): (progress: (text: string) => void) => void {
  const rows = connection
    .prepare(
      `SELECT type, name, sql FROM sqlite_master
       WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, rowid`,
    )
    .all() as SchemaRow[]
  for (const { type, name } of rows) connection.exec(`DROP ${type} ${name}`)
  for (const table of GATHERED) connection.exec(`DELETE FROM ${table}`)
  return (progress) => {
    const of = (wanted: SchemaRow['type']) => rows.filter(({ type }) => type === wanted)
    for (const { name, sql } of of('index')) {
      if (name.startsWith('validades_')) continue
      progress(`index ${name}`)
      connection.exec(sql)
    }
    progress('certificates in use')
    connection.exec(IN_USE)
    connection.exec(COUNT_ALL)
    connection.exec(FIRST_ENDS_OF_ALL)
    connection.exec(SUMMARY_COUNTS_OF_ALL)
    connection.exec(CARGO_COUNTS_OF_ALL)
    progress('acts of the hub')
    connection.exec(INDEX_ALL_ACTS)
    for (const { name, sql } of of('index')) {
      if (name.startsWith('validades_')) connection.exec(sql)
    }
    for (const { sql } of of('trigger')) connection.exec(sql)
  }
}

/** What follows from other tables: it is gathered from all of their rows, of which some may have been there before. */
const GATHERED = [
  'validades',
  'contagens',
  'validades_por_quarto',
  'validades_por_vida',
  'agentes_por_quarto',
  'raizes_confiadas',
  'cargas_contagens',
  'eventos_por_assunto',
]

/** What the triggers would have gathered: the rows that the two views name. */
const IN_USE = ['identidades_em_uso', 'entregas_em_uso']
  .map(
    (view) => `INSERT INTO validades
      SELECT c.seq, c.agente_id, c.purpose, c.entrega_id, c.not_before, c.not_after
      FROM ${view} AS em_uso CROSS JOIN certificados AS c ON c.seq = em_uso.seq;`,
  )
  .join('\n')

function inOneTransaction<T>(connection: Connection, work: () => T): T {
  return connection.transaction(work)()
}
