import { invariant } from '../../../platform/errors.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { ChangeRecorder } from './change-record.ts'
import type { Connection } from './encrypted-database.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'

type Statement = ReturnType<Connection['prepare']>
export type Parameter = string | number | null | Uint8Array
/** Positional values for `?`, or one object for `@name`. */
export type NamedParameters = Readonly<Record<string, Parameter>>
export type Parameters = readonly Parameter[] | readonly [NamedParameters]
type RowAct = 'insert' | 'put' | 'update'
interface RowText {
  readonly columns: readonly string[]
  readonly sql: string
}
/** What a change is about: some agents, nothing that `Store.versionOf` counts, or else, unless somebody says so, all agents. */
export type ChangeSubject = AgentId | readonly AgentId[] | 'no agent' | 'all agents'

/** Runs SQL on one connection; each text is prepared once. Its failures are the failures of the port. */
export class SqlSession {
  readonly #connection: Connection
  readonly #statements = new Map<string, Statement>()
  readonly #texts: Readonly<Record<RowAct, Map<string, RowText>>> = {
    insert: new Map(),
    put: new Map(),
    update: new Map(),
  }
  readonly #totalChanges: Statement
  #changes = 0
  #fleetChanges = 0
  #changedAgents = new Set<AgentId>()
  #subject: ChangeSubject = 'all agents'
  /** Told of each statement that may have changed rows. */
  recorder: ChangeRecorder | undefined

  constructor(connection: Connection) {
    this.#connection = connection
    this.#totalChanges = connection.prepare('SELECT total_changes()').pluck()
  }

  /** Grows whenever a row may have changed, except by a method that does it quietly. */
  get changes(): number {
    return this.#changes
  }

  /** Says what the changes within are about. */
  about<T>(subject: ChangeSubject, work: () => T): T {
    const outer = this.#subject
    this.#subject = subject
    try {
      return work()
    } finally {
      this.#subject = outer
    }
  }

  /** Which agents the changes since the last call were about. */
  takeChangedAgents(): ReadonlySet<AgentId> | 'all agents' {
    const agents = this.#fleetChanges > 0 ? 'all agents' : this.#changedAgents
    this.#fleetChanges = 0
    if (this.#changedAgents.size > 0) this.#changedAgents = new Set()
    return agents
  }

  // The caller says what the rows of its own SQL look like.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast at each call would say no more
  get<Row>(sql: string, ...parameters: Parameters): Row | undefined {
    return this.#run(sql, parameters, (statement) => {
      if (!statement.readonly) this.#noteChanges(1)
      return statement.get(...parameters)
    }) as Row | undefined
  }

  all<Row>(sql: string, ...parameters: Parameters): Row[] {
    return this.#run(sql, parameters, (statement) => statement.all(...parameters)) as Row[]
  }

  /** The first value of each row, of a statement that is asked for nothing else. */
  column<T>(sql: string, ...parameters: Parameters): T[] {
    return this.#run(sql, parameters, (statement) => statement.pluck().all(...parameters)) as T[]
  }

  /** How many rows it changed. */
  run(sql: string, ...parameters: Parameters): number {
    const changed = this.runQuietly(sql, ...parameters)
    this.#noteChanges(changed)
    return changed
  }

  /** For what `Store.version` does not count. */
  runQuietly(sql: string, ...parameters: Parameters): number {
    return this.#run(sql, parameters, (statement) => statement.run(...parameters)).changes
  }

  /** A row whose columns are the keys of an object; its number in the table. */
  insert(table: string, row: object): number {
    const sql = this.#textFor('insert', table, row, (columns) => insertInto(table, columns))
    const values = valuesOf(row)
    const { changes, lastInsertRowid } = this.#run(sql, values, (statement) =>
      statement.run(...values),
    )
    this.#noteChanges(changes)
    return Number(lastInsertRowid)
  }

  /** In the place of the row with the same key, of which columns that are not given stay as they are. */
  put(table: string, key: string, row: object): void {
    const sql = this.#textFor('put', table, row, (columns) => {
      const others = columns.filter((name) => name !== key)
      const changes = others.map((name) => `${name} = excluded.${name}`).join(', ')
      return `${insertInto(table, columns)} ON CONFLICT (${key}) DO UPDATE SET ${changes}`
    })
    this.run(sql, ...valuesOf(row))
  }

  /** Everything but the key of a row that is there. */
  update(table: string, key: string, row: object): void {
    const sql = this.#textFor('update', table, row, (columns) => {
      // To set the key, even to itself, would make SQLite look for all that refer to it.
      const changes = columns.filter((name) => name !== key).map((name) => `${name} = ?`)
      return `UPDATE ${table} SET ${changes.join(', ')} WHERE ${key} = ?`
    })
    const values = valuesOf(row)
    const [wanted = null] = values.splice(Object.keys(row).indexOf(key), 1)
    this.changeOne(sql, ...values, wanted)
  }

  changeOne(sql: string, ...parameters: Parameters): void {
    const changes = this.run(sql, ...parameters)
    invariant(changes === 1, `one row is there to be changed by: ${sql}`)
  }

  /** Of one row, which says itself whose it is. */
  changeOneOfAgent(sql: string, ...parameters: Parameters): void {
    const row = this.about('no agent', () =>
      this.get<{ agente_id: AgentId }>(`${sql} RETURNING agente_id`, ...parameters),
    )
    invariant(row !== undefined, `one row is there to be changed by: ${sql}`)
    this.#changedAgents.add(row.agente_id)
  }

  get inTransaction(): boolean {
    return this.#connection.inTransaction
  }

  /** What is only about this database. */
  unrecorded<T>(work: () => T): T {
    const { recorder } = this
    this.recorder = undefined
    try {
      return work()
    } finally {
      this.recorder = recorder
    }
  }

  /** A recorded statement; how many rows it changed, with its triggers. */
  repeat(sql: string, parameters: Parameters): number {
    return this.#run(sql, parameters, (statement) =>
      this.#countChanges(() =>
        statement.reader ? statement.all(...parameters) : statement.run(...parameters),
      ),
    ).rowsChanged
  }

  /** Each of several statements, of which nothing is recorded; how many rows all of them changed. */
  runScripts(scripts: readonly string[]): number {
    try {
      const run = (): void => {
        for (const script of scripts) this.#connection.exec(script)
      }
      return this.#countChanges(run).rowsChanged
    } catch (error) {
      throw describeSqliteFailure(error)
    }
  }

  #noteChanges(count: number): void {
    if (count === 0) return
    this.#changes += count
    if (this.#subject === 'all agents') this.#fleetChanges += count
    else if (Array.isArray(this.#subject))
      for (const id of this.#subject) this.#changedAgents.add(id)
    else if (this.#subject !== 'no agent') this.#changedAgents.add(this.#subject as AgentId)
  }

  /** Made once for as long as the rows have the same columns: to make a text costs as much as to run it. */
  #textFor(act: RowAct, table: string, row: object, make: (columns: string[]) => string): string {
    const texts = this.#texts[act]
    const known = texts.get(table)
    const columns = Object.keys(row)
    if (known !== undefined && isSame(known.columns, columns)) return known.sql
    const sql = make(columns)
    texts.set(table, { columns, sql })
    return sql
  }

  #run<T>(sql: string, parameters: Parameters, work: (statement: Statement) => T): T {
    try {
      const statement = this.#prepare(sql)
      if (this.recorder === undefined || statement.readonly) return work(statement)
      const { result, rowsChanged } = this.#countChanges(() => work(statement))
      this.recorder.note({ sql, parameters, rowsChanged })
      return result
    } catch (error) {
      throw describeSqliteFailure(error)
    }
  }

  #countChanges<T>(work: () => T): { readonly result: T; readonly rowsChanged: number } {
    const before = Number(this.#totalChanges.get())
    const result = work()
    return { result, rowsChanged: Number(this.#totalChanges.get()) - before }
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

/** Rows are of interfaces, which have no index signature. */
function valuesOf(row: object): Parameter[] {
  return Object.values(row) as Parameter[]
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, at) => name === others[at])
}

function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}
