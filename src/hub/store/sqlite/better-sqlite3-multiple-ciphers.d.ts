// The package's own types are not reachable through its `exports`; these are the parts that are used here.
declare module 'better-sqlite3-multiple-ciphers' {
  class Database {
    constructor(path: string, options?: Database.Options)
    readonly open: boolean
    readonly inTransaction: boolean
    prepare(sql: string): Database.Statement
    exec(sql: string): this
    pragma(sql: string, options?: { simple?: boolean }): unknown
    transaction<T>(work: () => T): () => T
    close(): this
  }
  namespace Database {
    interface Options {
      readonly?: boolean
      fileMustExist?: boolean
      timeout?: number
    }
    interface Statement {
      readonly readonly: boolean
      /** Whether it answers rows. */
      readonly reader: boolean
      get(...parameters: readonly unknown[]): unknown
      all(...parameters: readonly unknown[]): unknown[]
      /** From now on each row is its first value. */
      pluck(): this
      run(...parameters: readonly unknown[]): { changes: number; lastInsertRowid: number | bigint }
    }
    class SqliteError extends Error {
      readonly code: string
    }
  }
  export = Database
}
