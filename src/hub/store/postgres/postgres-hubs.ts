// Which hubs run, and what each of them has, in PostgreSQL. Beats have a connection of their own: a hub that waits for its turn at the journal
// is there all the same.

import type { Beat, HubInstance, HubRegistry, RegisteredHub, TakenBeat } from '../hub-registry.ts'
import { STANDING, standingName } from '../hub-registry.ts'
import { StoreError } from '../store-error.ts'
import { toDatabaseFailure } from './database-failure.ts'
import type { DatabaseHost } from './database-url.ts'
import { type EndRow, readEnd, SELECT_END } from './journal-end.ts'
import { type LeaseRow, readLeases, RELEASE, TAKE_OR_RENEW } from './lease-rows.ts'
import { StandingConnection } from './standing-connection.ts'
import type { DatabaseServers, WritableConnection } from './writable-connection.ts'

/** A hub of the same id that says something else takes its place. */
const ENTER = `INSERT INTO hub (id, selado, numero, desvio_ms, visto_em)
  VALUES ($1, $2, 0, 0, clock_timestamp()) ON CONFLICT (id) DO UPDATE SET selado = excluded.selado`
/** $1: its clock, in milliseconds. Only of who has the lease of this hub. */
const NOTE = `UPDATE hub SET numero = $2, visto_em = clock_timestamp(),
    desvio_ms = $1 - (extract(epoch FROM clock_timestamp()) * 1000)::bigint
  WHERE id = $3 AND EXISTS (SELECT FROM posse WHERE nome = $4 AND instancia = $5)`
/** Each hub that runs has one lease of its own. */
const COUNT_RUNNING = `SELECT count(*)::integer AS hubs FROM posse
  WHERE nome LIKE '${STANDING}%' AND ate > clock_timestamp()`
const LIST = `SELECT hub.id, hub.selado, hub.numero, hub.desvio_ms, hub.visto_em,
    (extract(epoch FROM clock_timestamp() - hub.visto_em) * 1000)::bigint AS silencio_ms,
    coalesce((SELECT array_agg(nome ORDER BY nome) FROM posse
      WHERE posse.hub = hub.id AND posse.ate > clock_timestamp()), '{}') AS posses,
    EXISTS (SELECT FROM posse WHERE posse.hub = hub.id AND posse.nome LIKE '${STANDING}%'
      AND posse.ate = '-infinity') AS parado
  FROM hub ORDER BY hub.id`

interface HubRow {
  readonly id: string
  readonly selado: Buffer
  readonly numero: string
  readonly desvio_ms: string
  readonly visto_em: Date
  readonly silencio_ms: string
  readonly posses: readonly string[]
  readonly parado: boolean
}

export class PostgresHubs implements HubRegistry {
  readonly #connection: StandingConnection
  readonly #vaultId: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(servers: DatabaseServers, vaultId: string) {
    this.#connection = new StandingConnection(servers)
    this.#vaultId = vaultId
  }

  /** The one that takes the beats now. */
  get host(): DatabaseHost | undefined {
    return this.#connection.host
  }

  async enter({ hubId }: HubInstance, sealed: Buffer): Promise<void> {
    await this.#inTransaction(async (connection) => {
      await connection.query(ENTER, [hubId, sealed])
    })
  }

  async beat({ hubId, instanceId, now, position, wishes }: Beat): Promise<TakenBeat> {
    const names = wishes.map(({ name }) => name)
    const seconds = wishes.map((wish) => wish.seconds)
    return this.#inTransaction(async (connection) => {
      // All at once: a beat is one round trip.
      const [taken, , [running]] = await Promise.all([
        connection.query<LeaseRow>(TAKE_OR_RENEW, [names, seconds, hubId, instanceId]),
        connection.query(NOTE, [now.getTime(), position, hubId, standingName(hubId), instanceId]),
        connection.query<{ readonly hubs: number }>(COUNT_RUNNING),
      ])
      return { leases: readLeases(taken), running: running?.hubs ?? 0 }
    })
  }

  async release({ instanceId }: HubInstance, names: readonly string[]): Promise<void> {
    await this.#inTransaction((connection) => connection.query(RELEASE, [names, instanceId]))
  }

  async list(): Promise<{ readonly hubs: readonly RegisteredHub[]; readonly end: number }> {
    return this.#inTransaction(async (connection) => {
      const [rows, [row]] = await Promise.all([
        connection.query<HubRow>(LIST),
        connection.query<EndRow>(SELECT_END),
      ])
      return { hubs: rows.map(readHub), end: readEnd(row, this.#vaultId).end.number }
    })
  }

  async remove(id: string): Promise<void> {
    await this.#inTransaction(async (connection) => {
      await connection.query('DELETE FROM posse WHERE hub = $1', [id])
      await connection.query('DELETE FROM hub WHERE id = $1', [id])
    })
  }

  async close(): Promise<void> {
    this.#connection.destroy()
  }

  /** One after the other: they share a connection. */
  async #inTransaction<T>(work: (connection: WritableConnection) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#transact(work))
    this.#last = done.catch(() => undefined)
    return done
  }

  async #transact<T>(work: (connection: WritableConnection) => Promise<T>): Promise<T> {
    let connection: WritableConnection | undefined
    try {
      connection = await this.#connection.open()
      const begun = connection.query('BEGIN')
      const [, done] = await Promise.all([begun, work(connection)])
      if (await connection.commit()) return done
      throw new StoreError('store_unavailable', 'the database refused it')
    } catch (error) {
      connection?.destroy()
      throw toDatabaseFailure(error)
    }
  }
}

function readHub(row: HubRow): RegisteredHub {
  return {
    id: row.id,
    sealed: row.selado,
    position: Number(row.numero),
    clockAheadMs: Number(row.desvio_ms),
    lastBeatAt: row.visto_em,
    silentMs: Number(row.silencio_ms),
    leases: row.posses.filter((name) => !name.startsWith(STANDING)),
    state: stateOf(row),
  }
}

function stateOf({ id, posses, parado }: HubRow): RegisteredHub['state'] {
  if (posses.includes(standingName(id))) return 'running'
  return parado ? 'stopped' : 'silent'
}
