// The one connection of those that ask again and again: opened when it is needed, and again when it has ended.

import type { DatabaseHost } from './database-url.ts'
import { type DatabaseServers, WritableConnection } from './writable-connection.ts'

export class StandingConnection {
  readonly #servers: DatabaseServers
  #connection: WritableConnection | undefined

  constructor(servers: DatabaseServers) {
    this.#servers = servers
  }

  /** The server at its other end; undefined while there is none. */
  get host(): DatabaseHost | undefined {
    return this.#connection?.isEnded === false ? this.#connection.host : undefined
  }

  /** For one caller at a time. Throws StoreError `store_unavailable`. */
  async open(): Promise<WritableConnection> {
    if (this.#connection === undefined || this.#connection.isEnded) {
      this.#connection = await WritableConnection.open(this.#servers)
    }
    return this.#connection
  }

  destroy(): void {
    this.#connection?.destroy()
  }
}
