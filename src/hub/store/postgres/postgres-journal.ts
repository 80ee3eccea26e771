// The journal in PostgreSQL. One row has the number of the last record, and is locked for as long as a turn lasts.

import type { Clock } from '../../../platform/clock.ts'
import type { Journal, JournalPart, JournalRecord, JournalTurn } from '../journal.ts'
import { StoreError } from '../store-error.ts'
import { toDatabaseFailure } from './database-failure.ts'
import { type DatabaseHost, showHost } from './database-url.ts'
import { type EndRow, type JournalEnd, readEnd, SELECT_END } from './journal-end.ts'
import { type LeaseRow, readTerms, SELECT_TERMS } from './lease-rows.ts'
import { StandingConnection } from './standing-connection.ts'
import type { DatabaseServers, WritableConnection } from './writable-connection.ts'

const READ_RECORDS_MAX = 256
const READ_BYTES = 4 * 1024 * 1024
/** How long a database may fail over before a write is refused. */
const PATIENCE_MS = 10_000
const RETRY_MS = 200
/** Of the hub that brings the tables forward: its process does nothing else meanwhile. */
const LONG_TURN = `SET LOCAL idle_in_transaction_session_timeout = '2min'`

/** Of one moment: the end, once for each record and once where there is none. */
const SELECT_AFTER = `SELECT fim.cofre, fim.numero AS fim, fim.resumo, fim.bytes,
    fim.encerrado_em IS NOT NULL AS encerrado, lidos.numero, lidos.selado
  FROM diario_fim AS fim LEFT JOIN (
    SELECT numero, selado, sum(octet_length(selado)) OVER (ORDER BY numero) - octet_length(selado) AS antes
    FROM (SELECT numero, selado FROM diario WHERE numero > $1 ORDER BY numero LIMIT ${READ_RECORDS_MAX}) AS proximos
  ) AS lidos ON antes < ${READ_BYTES}
  WHERE fim.id = 1 ORDER BY lidos.numero`

interface RecordRow {
  /** As text: it could be larger than a number of JavaScript. */
  readonly numero: string
  readonly selado: Buffer
}

type FollowedRow = EndRow & (RecordRow | { readonly numero: null; readonly selado: null })

export interface JournalManners {
  readonly clock: Clock
  readonly random: () => number
  /** 0: each look is one try. */
  readonly patienceMs?: number
}

export class PostgresJournal implements Journal {
  readonly #connection: StandingConnection
  readonly #vaultId: string
  readonly #clock: Clock
  readonly #random: () => number
  readonly #patienceMs: number

  constructor(
    servers: DatabaseServers,
    vaultId: string,
    { clock, random, patienceMs = PATIENCE_MS }: JournalManners,
  ) {
    this.#connection = new StandingConnection(servers)
    this.#vaultId = vaultId
    this.#clock = clock
    this.#random = random
    this.#patienceMs = patienceMs
  }

  async read(after: number): Promise<JournalPart> {
    const rows = await this.#persist((connection) =>
      connection.query<FollowedRow>(SELECT_AFTER, [after]),
    )
    const { end } = readEnd(rows[0], this.#vaultId)
    const records = rows.flatMap(({ numero, selado }) =>
      numero === null ? [] : { number: Number(numero), sealed: selado },
    )
    if (after < end.number) requireNext(after, records)
    return { end, records }
  }

  async takeTurn(manners?: 'long'): Promise<JournalTurn> {
    const { connection, before, terms } = await this.#persist(async (open) => {
      // The leases are read once nobody else has the turn: each statement sees what is committed when it begins.
      const [end, leases] = await Promise.all([
        this.#lockEnd(open),
        open.queryLocking<LeaseRow>(SELECT_TERMS),
        ...(manners === 'long' ? [open.queryLocking(LONG_TURN)] : []),
      ])
      return { connection: open, before: end, terms: readTerms(leases) }
    })
    let isOver = false
    return {
      end: before.end,
      terms,
      append: async (record, end) => {
        isOver = true
        await this.#append(connection, record, {
          end,
          bytes: before.bytes + record.sealed.length,
        })
      },
      release: async () => {
        if (isOver) return
        isOver = true
        // Nothing was done in it; whatever comes next on this connection comes after it.
        connection.query('ROLLBACK').catch(() => connection.destroy())
      },
    }
  }

  /** Others are asked no more: the hubs' beats are taken by this one. */
  keepTo(host: DatabaseHost): void {
    const open = this.#connection.host
    if (open !== undefined && showHost(open) !== showHost(host)) this.#connection.destroy()
  }

  async close(): Promise<void> {
    this.#connection.destroy()
  }

  /** Begins the transaction of a turn. */
  async #lockEnd(connection: WritableConnection): Promise<JournalEnd> {
    const begun = connection.query('BEGIN')
    const locked = connection.queryLocking<EndRow>(`${SELECT_END} FOR UPDATE`)
    const [, [row]] = await Promise.all([begun, locked])
    return readEnd(row, this.#vaultId)
  }

  async #append(
    connection: WritableConnection,
    record: JournalRecord,
    { end, bytes }: JournalEnd,
  ): Promise<void> {
    const { number, sealed } = record
    const sent = [
      connection.query('INSERT INTO diario (numero, selado, bytes) VALUES ($1, $2, $3)', [
        number,
        sealed,
        bytes,
      ]),
      connection.query('UPDATE diario_fim SET numero = $1, resumo = $2, bytes = $3 WHERE id = 1', [
        end.number,
        end.hash,
        bytes,
      ]),
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
    let isThere: boolean | undefined
    try {
      isThere = await this.#persist(async (connection) => {
        const { end } = await this.#lockEnd(connection)
        const found = await connection.query<RecordRow>(
          'SELECT numero, selado FROM diario WHERE numero = $1',
          [number],
        )
        // What was seen is as durable as this is.
        await connection.query('UPDATE diario_fim SET numero = numero WHERE id = 1')
        if (!(await connection.commit())) throw new Error('the look was rolled back')
        if (end.number < number) return false
        // One that nobody needs any more may be gone.
        return found[0]?.selado.equals(sealed)
      })
    } catch (error) {
      const message = `the database did not say whether it has record ${number}`
      throw new StoreError('store_unknown', message, { cause: error })
    }
    if (isThere === true) return
    if (isThere === undefined) {
      throw new StoreError(
        'store_unknown',
        `the database has record ${number} no more, or never had`,
      )
    }
    throw new StoreError('store_unavailable', `the database has not taken record ${number}`)
  }

  /** Tries again, on another connection, for as long as a failover may take. */
  async #persist<T>(work: (connection: WritableConnection) => Promise<T>): Promise<T> {
    const startMs = performance.now()
    for (;;) {
      try {
        return await work(await this.#connection.open())
      } catch (error) {
        this.#connection.destroy()
        if (error instanceof StoreError && error.code === 'store_diverged') throw error
        if (performance.now() - startMs >= this.#patienceMs) {
          throw toDatabaseFailure(error)
        }
      }
      await this.#clock.sleep(RETRY_MS * (0.5 + this.#random()))
    }
  }
}

function requireNext(after: number, [next]: readonly JournalRecord[]): void {
  if (next?.number === after + 1) return
  throw new StoreError(
    'store_behind',
    `the journal has no record ${after + 1} any more, which this vault needs next`,
  )
}
