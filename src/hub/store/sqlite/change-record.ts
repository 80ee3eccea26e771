// What a transaction did to the rows, as the statements that did it. The SQL here has neither clock nor chance in it, so the same
// statements do the same to every database that was the same before: a copy follows by running them.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Parameters } from './sql-session.ts'

export interface RecordedStatement {
  readonly sql: string
  readonly parameters: Parameters
  /** By the statement and its triggers: a copy of which other rows change was not the same before. */
  readonly rowsChanged: number
}

/** What one transaction did. */
export interface ChangeRecord {
  readonly statements: readonly RecordedStatement[]
  /** Whom it was about, as `Store.versionOf` counts it. */
  readonly agents: readonly AgentId[] | 'all agents'
}

/** Gathers the statements of one transaction. */
export class ChangeRecorder {
  #statements: RecordedStatement[] = []

  /** How many there are: what is rolled back goes back to one. */
  get length(): number {
    return this.#statements.length
  }

  note(statement: RecordedStatement): void {
    this.#statements.push(statement)
  }

  backTo(length: number): void {
    this.#statements.length = length
  }

  /** All since the last call. */
  take(): readonly RecordedStatement[] {
    const statements = this.#statements
    this.#statements = []
    return statements
  }
}
