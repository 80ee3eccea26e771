// The tables of a journal, and its beginning. Each journal begins with a hash of its own, by chance: a database that has followed
// another one, or that was restored and made a journal of its own again, finds that it is not its own before it takes a record of it.

import { randomBytes } from 'node:crypto'
import type { JournalPosition } from '../journal.ts'
import { StoreError } from '../store-error.ts'
import { toDatabaseFailure } from './database-failure.ts'
import { type EndRow, readEnd, SELECT_END } from './journal-end.ts'
import { type DatabaseServers, WritableConnection } from './writable-connection.ts'

/**
 * `posse` has the leases, until when (`ate`), and which process of which hub has them; a hub that runs has one of its own.
 * `diario_fim.cofre` tells whose journal it is; `bytes` of a record is of all records up to this one, so that nobody has to count them, and
 * `imagem.diario_bytes` is that of the record of the image. An image has `inteira_em` when it is whole. Sealed bytes are of no use to a compressor.
 */
const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS diario (
    numero bigint PRIMARY KEY CHECK (numero >= 1),
    selado bytea NOT NULL,
    bytes bigint NOT NULL,
    escrito_em timestamptz NOT NULL DEFAULT now()
  )`,
  'ALTER TABLE diario ALTER COLUMN selado SET STORAGE EXTERNAL',
  `CREATE TABLE IF NOT EXISTS diario_fim (
    id integer PRIMARY KEY CHECK (id = 1),
    cofre text NOT NULL,
    numero bigint NOT NULL CHECK (numero >= 0),
    resumo bytea NOT NULL CHECK (octet_length(resumo) = 32),
    bytes bigint NOT NULL,
    encerrado_em timestamptz
  )`,
  `CREATE TABLE IF NOT EXISTS imagem (
    id uuid PRIMARY KEY,
    numero bigint NOT NULL CHECK (numero >= 0),
    resumo bytea NOT NULL CHECK (octet_length(resumo) = 32),
    tipo text NOT NULL,
    versao integer NOT NULL,
    bytes bigint NOT NULL,
    sal bytea NOT NULL,
    partes integer NOT NULL,
    diario_bytes bigint NOT NULL,
    iniciada_em timestamptz NOT NULL DEFAULT now(),
    inteira_em timestamptz
  )`,
  `CREATE TABLE IF NOT EXISTS imagem_parte (
    imagem uuid NOT NULL REFERENCES imagem (id),
    parte integer NOT NULL,
    selado bytea NOT NULL,
    PRIMARY KEY (imagem, parte)
  )`,
  'ALTER TABLE imagem_parte ALTER COLUMN selado SET STORAGE EXTERNAL',
  `CREATE TABLE IF NOT EXISTS hub (
    id uuid PRIMARY KEY,
    selado bytea NOT NULL,
    numero bigint NOT NULL,
    desvio_ms bigint NOT NULL,
    visto_em timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS posse (
    nome text PRIMARY KEY,
    hub uuid NOT NULL,
    instancia uuid NOT NULL,
    termo bigint NOT NULL,
    ate timestamptz NOT NULL
  )`,
]

/**
 * Of records and images, however many there are: to delete rows by the gigabyte takes longer than a statement may. What is in them is gone from
 * the disk, too. Only who owns the tables may do it.
 */
export const EMPTY_JOURNAL = 'TRUNCATE diario, imagem, imagem_parte, hub, posse'

/**
 * An empty journal, in one transaction; where it begins. One of this vault that has no record yet begins again: the vault may have gone on
 * without it, and its images are none of the new beginning. Throws StoreError `store_exists` for one that has records, `store_diverged` for the journal of another vault.
 */
export async function createJournal(
  servers: DatabaseServers,
  vaultId: string,
  { replaces }: { readonly replaces: boolean } = { replaces: false },
): Promise<JournalPosition> {
  const begin = { number: 0, hash: randomBytes(32) }
  const connection = await WritableConnection.open(servers)
  try {
    await connection.query('BEGIN')
    // Before anything that would hold up the hubs of a journal that is in use.
    await refuseUsed(connection, vaultId, replaces)
    for (const statement of STATEMENTS) await connection.query(statement)
    await connection.query(
      `INSERT INTO diario_fim (id, cofre, numero, resumo, bytes) VALUES (1, $1, 0, $2, 0)
        ON CONFLICT (id) DO UPDATE SET cofre = excluded.cofre, numero = 0, resumo = excluded.resumo,
          bytes = 0, encerrado_em = NULL`,
      [vaultId, begin.hash],
    )
    await connection.query(EMPTY_JOURNAL)
    if (await connection.commitRemoval()) return begin
    throw new StoreError('store_unavailable', 'the database refused the journal')
  } catch (error) {
    throw toDatabaseFailure(error)
  } finally {
    connection.destroy()
  }
}

async function refuseUsed(
  connection: WritableConnection,
  vaultId: string,
  replaces: boolean,
): Promise<void> {
  const [table] = await connection.query<{ readonly fim: string | null }>(
    `SELECT to_regclass('diario_fim') AS fim`,
  )
  if (typeof table?.fim !== 'string') return
  const [row] = await connection.queryLocking<EndRow>(`${SELECT_END} FOR UPDATE`)
  if (row === undefined || row.encerrado) return
  const { number } = readEnd(row, vaultId).end
  if (number === 0 || replaces) return
  throw new StoreError(
    'store_exists',
    `the database has a journal of this vault already, of ${number} records`,
    { hint: 'if no hub has it any more, --replace removes it; svc join makes a vault of it' },
  )
}
