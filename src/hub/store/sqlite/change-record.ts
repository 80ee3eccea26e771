// What a transaction did to the rows, as the statements that did it. The SQL here has neither clock nor chance in it, so the same
// statements do the same to every database that was the same before: a copy follows by running them.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { NamedParameters, Parameter, Parameters } from './sql-session.ts'

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

/** A record is in memory as a whole, several times over, here and wherever it is followed. */
const PARAMETERS_LENGTH_MAX = 4 * 1024 * 1024

/** Gathers the statements of one transaction. */
export class ChangeRecorder {
  #statements: RecordedStatement[] = []
  #parametersLength = 0

  /** How many there are: what is rolled back goes back to one. */
  get length(): number {
    return this.#statements.length
  }

  /** Whether nothing more should be done in the same transaction. */
  get isFull(): boolean {
    return this.#parametersLength > PARAMETERS_LENGTH_MAX
  }

  note(statement: RecordedStatement): void {
    this.#statements.push(statement)
    for (const parameter of statement.parameters) this.#parametersLength += lengthOf(parameter)
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

/** In characters or bytes. */
function lengthOf(parameter: Parameter | NamedParameters): number {
  if (typeof parameter === 'string' || parameter instanceof Uint8Array) return parameter.length
  if (typeof parameter !== 'object' || parameter === null) return 0
  return Object.values(parameter).reduce<number>((sum, value) => sum + lengthOf(value), 0)
}
