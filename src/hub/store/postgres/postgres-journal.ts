// The journal in PostgreSQL. One row has the number of the last record, and is locked for as long as a turn lasts.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Journal, JournalRecord, JournalTurn } from '../journal.ts'
import { StoreError } from '../store-error.ts'
import { type DatabaseServers, WritableConnection } from './writable-connection.ts'

/** `diario_fim.cofre` tells whose journal it is. */
export const JOURNAL_TABLES = `
CREATE TABLE diario (
  numero bigint PRIMARY KEY CHECK (numero >= 1),
  selado bytea NOT NULL,
  escrito_em timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE diario_fim (
  id integer PRIMARY KEY CHECK (id = 1),
  cofre text NOT NULL,
  numero bigint NOT NULL CHECK (numero >= 0)
);
`

/** Sealed bytes are of no use to a compressor. */
const KEEP_AS_IT_IS = 'ALTER TABLE diario ALTER COLUMN selado SET STORAGE EXTERNAL'
const READ_RECORDS_MAX = 256
const READ_BYTES = 4 * 1024 * 1024
/** How long a database may fail over before a write is refused. */
const PATIENCE_MS = 10_000
const RETRY_MS = 200

const SELECT_AFTER = `SELECT numero, selado FROM (
    SELECT numero, selado, sum(octet_length(selado)) OVER (ORDER BY numero) - octet_length(selado) AS antes
    FROM (SELECT numero, selado FROM diario WHERE numero > $1 ORDER BY numero LIMIT ${READ_RECORDS_MAX}) AS proximos
  ) AS medidos WHERE antes < ${READ_BYTES} ORDER BY numero`

interface RecordRow {
  /** As text: it could be larger than a number of JavaScript. */
  readonly numero: string
  readonly selado: Buffer
}

/** The tables of an empty journal, in one transaction. */
export async function createJournal(servers: DatabaseServers, vaultId: string): Promise<void> {
  const connection = await WritableConnection.open(servers)
  try {
    await connection.query('BEGIN')
    for (const statement of [...JOURNAL_TABLES.split(';\n'), KEEP_AS_IT_IS]) {
      if (statement.trim() !== '') await connection.query(statement)
    }
    await connection.query('INSERT INTO diario_fim (id, cofre, numero) VALUES (1, $1, 0)', [
      vaultId,
    ])
    await connection.commit()
  } finally {
    connection.destroy()
  }
}

export class PostgresJournal implements Journal {
  readonly #servers: DatabaseServers
  readonly #vaultId: string
  readonly #clock: Clock
  readonly #random: () => number
  #connection: WritableConnection | undefined

  constructor(
    servers: DatabaseServers,
    vaultId: string,
    { clock, random }: { readonly clock: Clock; readonly random: () => number },
  ) {
    this.#servers = servers
    this.#vaultId = vaultId
    this.#clock = clock
    this.#random = random
  }

  async read(after: number): Promise<readonly JournalRecord[]> {
    const rows = await this.#persist((connection) =>
      connection.query<RecordRow>(SELECT_AFTER, [after]),
    )
    return rows.map(({ numero, selado }) => ({ number: Number(numero), sealed: selado }))
  }

  async takeTurn(): Promise<JournalTurn> {
    const { connection, end } = await this.#persist(async (open) => ({
      connection: open,
      end: await this.#lockEnd(open),
    }))
    let isOver = false
    return {
      end,
      append: async (record) => {
        isOver = true
        await this.#append(connection, record)
      },
      release: async () => {
        if (isOver) return
        isOver = true
        // Nothing was done in it; whatever comes next on this connection comes after it.
        connection.query('ROLLBACK').catch(() => connection.destroy())
      },
    }
  }

  async close(): Promise<void> {
    this.#connection?.destroy()
  }

  /** Begins the transaction of a turn. */
  async #lockEnd(connection: WritableConnection): Promise<number> {
    const begun = connection.query('BEGIN')
    const locked = connection.queryLocking<{ readonly cofre: string; readonly numero: string }>(
      'SELECT cofre, numero FROM diario_fim WHERE id = 1 FOR UPDATE',
    )
    const [, rows] = await Promise.all([begun, locked])
    const [row] = rows
    if (row?.cofre === this.#vaultId) return Number(row.numero)
    const whose = row === undefined ? 'no vault' : `vault ${row.cofre}`
    throw new StoreError(
      'store_diverged',
      `the database belongs to ${whose}, config.json to vault ${this.#vaultId}`,
    )
  }

  async #append(connection: WritableConnection, record: JournalRecord): Promise<void> {
    const { number, sealed } = record
    const sent = [
      connection.query('INSERT INTO diario (numero, selado) VALUES ($1, $2)', [number, sealed]),
      connection.query('UPDATE diario_fim SET numero = $1 WHERE id = 1', [number]),
      connection.commit(),
    ] as const
    const [inserted, noted, committed] = await Promise.allSettled(sent)
    if (committed.status === 'fulfilled') {
      if (committed.value) return
      connection.destroy()
      const cause: unknown = [inserted, noted].find(({ status }) => status === 'rejected')
      throw new StoreError('store_unavailable', 'the database refused the record', { cause })
    }
    connection.destroy()
    await this.#findOut(record)
  }

  /** Of a COMMIT without a reply: whether the record is there, by a transaction that comes after it. */
  async #findOut({ number, sealed }: JournalRecord): Promise<void> {
    let isThere: boolean
    try {
      isThere = await this.#persist(async (connection) => {
        const end = await this.#lockEnd(connection)
        const found = await connection.query<RecordRow>(
          'SELECT numero, selado FROM diario WHERE numero = $1',
          [number],
        )
        // What was seen is as durable as this is.
        await connection.query('UPDATE diario_fim SET numero = numero WHERE id = 1')
        if (!(await connection.commit())) throw new Error('the look was rolled back')
        return end >= number && found[0]?.selado.equals(sealed) === true
      })
    } catch (error) {
      const message = `the database did not say whether it has record ${number}`
      throw new StoreError('store_unknown', message, { cause: error })
    }
    if (isThere) return
    throw new StoreError('store_unavailable', `the database has not taken record ${number}`)
  }

  /** Tries again, on another connection, for as long as a failover may take. */
  async #persist<T>(work: (connection: WritableConnection) => Promise<T>): Promise<T> {
    const startMs = performance.now()
    for (;;) {
      try {
        return await work(await this.#connect())
      } catch (error) {
        this.#connection?.destroy()
        if (error instanceof StoreError && error.code === 'store_diverged') throw error
        if (performance.now() - startMs > PATIENCE_MS) {
          const cause = error instanceof StoreError ? error : undefined
          throw (
            cause ??
            new StoreError('store_unavailable', `the database: ${describeError(error)}`, {
              cause: error,
            })
          )
        }
      }
      await this.#clock.sleep(RETRY_MS * (0.5 + this.#random()))
    }
  }

  async #connect(): Promise<WritableConnection> {
    if (this.#connection === undefined || this.#connection.isEnded) {
      this.#connection = await WritableConnection.open(this.#servers)
    }
    return this.#connection
  }
}
