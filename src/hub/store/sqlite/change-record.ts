// What a transaction did to the rows, as the statements that did it. The SQL here has neither clock nor chance in it, so the same
// statements do the same to every database that was the same before: a copy follows by running them.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { News } from '../store.ts'
import type { NamedParameters, Parameter, Parameters } from './sql-session.ts'
import type { TablesStep } from './tables-version.ts'

export interface RecordedStatement {
  readonly sql: string
  readonly parameters: Parameters
  /** By the statement and its triggers: a copy of which other rows change was not the same before. */
  readonly rowsChanged: number
}

/** What brought the tables forward, and how many rows it changed. */
export interface RecordedTables extends TablesStep {
  readonly rowsChanged: number
}

/** What one transaction did. */
export interface ChangeRecord {
  readonly statements: readonly RecordedStatement[]
  /** Of a transaction that did nothing else. */
  readonly tables?: RecordedTables | undefined
  /** Whom it was about, as `Store.versionOf` counts it. */
  readonly agents: readonly AgentId[] | 'all agents'
  readonly news: readonly News[]
}

export interface RecorderMark {
  readonly statements: number
  readonly news: number
}

/** A record is in memory as a whole, several times over, here and wherever it is followed. */
const PARAMETERS_LENGTH_MAX = 4 * 1024 * 1024

const NAMED_AGENTS_MAX = 10_000

/** Gathers the statements of one transaction. */
export class ChangeRecorder {
  #statements: RecordedStatement[] = []
  #news: News[] = []
  #parametersLength = 0

  /** What is rolled back goes back to one. */
  get mark(): RecorderMark {
    return { statements: this.#statements.length, news: this.#news.length }
  }

  /** Whether nothing more should be done in the same transaction. */
  get isFull(): boolean {
    return this.#parametersLength > PARAMETERS_LENGTH_MAX
  }

  note(statement: RecordedStatement): void {
    this.#statements.push(statement)
    for (const parameter of statement.parameters) this.#parametersLength += lengthOf(parameter)
  }

  noteNews(news: News): void {
    const isForAll = (news.agents?.length ?? 0) > NAMED_AGENTS_MAX
    this.#news.push(isForAll ? { ...news, agents: [], isForAll } : news)
  }

  backTo({ statements, news }: RecorderMark): void {
    this.#statements.length = statements
    this.#news.length = news
  }

  /** All since the last call. */
  take(): Pick<ChangeRecord, 'statements' | 'news'> {
    const taken = { statements: this.#statements, news: this.#news }
    this.#statements = []
    this.#news = []
    return taken
  }
}

/** In characters or bytes. */
function lengthOf(parameter: Parameter | NamedParameters): number {
  if (typeof parameter === 'string' || parameter instanceof Uint8Array) return parameter.length
  if (typeof parameter !== 'object' || parameter === null) return 0
  return Object.values(parameter).reduce<number>((sum, value) => sum + lengthOf(value), 0)
}
