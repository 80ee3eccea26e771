import type { Connection } from './encrypted-database.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'

type Statement = ReturnType<Connection['prepare']>
export type Parameter = string | number | null | Uint8Array
/** Positional values for `?`, or one object for `@name`. */
type Parameters = readonly Parameter[] | readonly [object]

/** Runs SQL on one connection; each text is prepared once. Its failures are those of the port. */
export class SqlSession {
  readonly #connection: Connection
  readonly #statements = new Map<string, Statement>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  // The caller says what the rows of its own SQL look like.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast at each call would say no more
  get<Row>(sql: string, ...parameters: Parameters): Row | undefined {
    return this.#run(sql, (statement) => statement.get(...parameters)) as Row | undefined
  }

  all<Row>(sql: string, ...parameters: Parameters): Row[] {
    return this.#run(sql, (statement) => statement.all(...parameters)) as Row[]
  }

  /** How many rows it changed. */
  run(sql: string, ...parameters: Parameters): number {
    return this.#run(sql, (statement) => statement.run(...parameters)).changes
  }

  #run<T>(sql: string, work: (statement: Statement) => T): T {
    try {
      return work(this.#prepare(sql))
    } catch (error) {
      throw describeSqliteFailure(error)
    }
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
