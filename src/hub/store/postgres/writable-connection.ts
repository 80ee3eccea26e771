// A connection to the server of a cluster that takes writes, with the timeouts that keep a hub from waiting for one that is gone. What
// goes wrong with it ends it: the next one finds the server that takes writes then.

import type { Client, ClientConfig, QueryConfig, QueryResult } from 'pg'
import { describeError } from '../../../platform/errors.ts'
import type { Secret } from '../../../platform/secret.ts'
import { StoreError } from '../store-error.ts'
import { type DatabaseHost, type DatabaseUrl, isSocketDirectory, showHost } from './database-url.ts'

/** What a URL names, with what its files hold. */
export interface DatabaseServers extends Omit<DatabaseUrl, 'tls'> {
  readonly tls:
    | {
        readonly rootsPem: readonly string[]
        readonly client?: { readonly certificatePem: string; readonly keyPem: Secret<string> }
      }
    | undefined
}

const CONNECT_TIMEOUT_MS = 1500
/** A server that is paused acknowledges TCP still. */
const QUERY_TIMEOUT_MS = 3000
const LOCK_TIMEOUT_MS = 5000
/** To remove files by the gigabyte, which the server does once the transaction has its record. */
const REMOVAL_TIMEOUT_MS = 120_000
/** Frees what a hub holds that is frozen. */
const IDLE_TIMEOUT_MS = 2000

/** What each connection asks of its session, as `pg_settings` shows it. */
export const SESSION_SETTINGS = {
  statement_timeout: LOCK_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
  default_transaction_isolation: 'read committed',
} as const

type Value = string | number | Buffer | readonly string[] | readonly number[]

export class WritableConnection {
  /** The one that was reached. */
  readonly host: DatabaseHost
  readonly #client: Client
  #isEnded = false
  #warnings = 0

  private constructor(host: DatabaseHost, client: Client) {
    this.host = host
    this.#client = client
    client.on('error', () => this.destroy())
    client.on('end', () => this.destroy())
    client.on('notice', ({ severity }) => {
      if (severity === 'WARNING') this.#warnings += 1
    })
  }

  /** Throws StoreError `store_unavailable`, with what each server said; the signal's reason instead of trying the next one. */
  static async open(servers: DatabaseServers, signal?: AbortSignal): Promise<WritableConnection> {
    const { default: pg } = await import('pg')
    const faults: string[] = []
    for (const host of servers.hosts) {
      signal?.throwIfAborted()
      const connection = new WritableConnection(host, new pg.Client(configOf(servers, host)))
      try {
        await connection.#client.connect()
        if (await connection.#isWritable()) return connection
        faults.push(`${showHost(host)} takes no writes`)
      } catch (error) {
        faults.push(`${showHost(host)}: ${describeError(error)}`)
      }
      connection.destroy()
    }
    throw new StoreError('store_unavailable', `no database takes writes: ${faults.join('; ')}`, {
      hint: 'SVC_DATABASE_URL names the servers that are asked; svc doctor looks at them',
    })
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Sent at once: statements that are not waited for in between share a round trip. */
  async query<Row>(sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return (await this.#send(sql, values)).rows as Row[]
  }

  /** A statement that may have to wait for others. */
  async queryLocking<Row>(sql: string): Promise<readonly Row[]> {
    return (await this.#send(sql, [], LOCK_TIMEOUT_MS + QUERY_TIMEOUT_MS)).rows as Row[]
  }

  /**
   * Whether what was sent since BEGIN is durable where the server keeps its promise. Answers false for a transaction that failed
   * before. A COMMIT that comes with a warning is one that its standby has not got.
   */
  commit(): Promise<boolean> {
    return this.#commit(QUERY_TIMEOUT_MS)
  }

  /** The same of a transaction that emptied large tables. */
  commitRemoval(): Promise<boolean> {
    return this.#commit(REMOVAL_TIMEOUT_MS)
  }

  /** What it had under way is the server's to end. */
  destroy(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    void this.#client.end().catch(() => undefined)
    this.#client.connection.stream.destroy()
  }

  [Symbol.dispose](): void {
    this.destroy()
  }

  async #commit(timeoutMs: number): Promise<boolean> {
    const before = this.#warnings
    const { command } = await this.#send('COMMIT', [], timeoutMs)
    if (this.#warnings > before) throw new Error('COMMIT came with a warning')
    return command === 'COMMIT'
  }

  async #isWritable(): Promise<boolean> {
    const [row] = await this.query<{ readonly transaction_read_only: string }>(
      'SHOW transaction_read_only',
    )
    return row?.transaction_read_only === 'off'
  }

  #send(
    text: string,
    values: readonly Value[],
    query_timeout: number = QUERY_TIMEOUT_MS,
  ): Promise<QueryResult> {
    const asked: QueryConfig & { readonly query_timeout: number } = {
      text,
      values: [...values],
      query_timeout,
    }
    return this.#client.query(asked)
  }
}

function configOf(servers: DatabaseServers, { host, port }: DatabaseHost): ClientConfig {
  const { database, user, password, tls } = servers
  const {
    statement_timeout,
    lock_timeout,
    idle_in_transaction_session_timeout,
    default_transaction_isolation,
  } = SESSION_SETTINGS
  return {
    host,
    port,
    database,
    user,
    // A function, since without one the library looks for a password in the environment and in the user's home.
    password: () => password?.reveal() ?? '',
    ssl: isSocketDirectory(host) ? false : sslOf(tls),
    application_name: 'svc-server',
    pipeline: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout,
    lock_timeout,
    idle_in_transaction_session_timeout,
    options: `-c synchronous_commit=on -c default_transaction_isolation=${default_transaction_isolation.replace(' ', '\\ ')}`,
    keepAlive: true,
  }
}

/** Not left out without TLS: the library would look into the environment. The name that it verifies is the host's. */
function sslOf(tls: DatabaseServers['tls']): ClientConfig['ssl'] {
  if (tls === undefined) return false
  const { rootsPem, client } = tls
  return {
    ca: [...rootsPem],
    ...(client && { cert: client.certificatePem, key: client.keyPem.reveal() }),
  }
}
