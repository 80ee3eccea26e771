// The port to what several hubs share: the records of all transactions of a vault, numbered from 1, in one order. Each hub runs them on a
// database of its own (docs/decisions/0026-hubs-follow-one-journal.md). A record is sealed: the journal knows its number and size, no more.

export interface JournalRecord {
  readonly number: number
  readonly sealed: Buffer
}

export interface Journal {
  /** Those after this number, oldest first: as many as are handy, and one at least when there is one. */
  read(after: number): Promise<readonly JournalRecord[]>
  /** Resolves when nobody else can append. Throws StoreError `store_unavailable`. */
  takeTurn(): Promise<JournalTurn>
  close(): Promise<void>
}

/** It ends with its first `append` or `release`. */
export interface JournalTurn {
  /** The number of the last record; 0 when there is none. */
  readonly end: number
  /**
   * The record after the last one. Resolves when it is durable. Throws StoreError: `store_unavailable` when it is not there,
   * `store_unknown` when nobody can say.
   */
  append(record: JournalRecord): Promise<void>
  /** Never rejects. */
  release(): Promise<void>
}
