// The port to what several hubs share: the records of all transactions of a vault, numbered from 1, in one order. Each hub runs them on a
// database of its own (docs/decisions/0026-hubs-follow-one-journal.md). A record is sealed: the journal knows its number and size, no more.

export interface JournalRecord {
  readonly number: number
  readonly sealed: Buffer
}

/** Where a journal ends, or how far a database has followed it. */
export interface JournalPosition {
  /** Of the last record; 0 before the first. */
  readonly number: number
  /** Over all records up to there, 32 bytes. Before the first record it tells one journal from another: each begins with another one. */
  readonly hash: Buffer
}

export interface JournalPart {
  readonly end: JournalPosition
  /** Oldest first: as many as are handy, and one at least when there is one. */
  readonly records: readonly JournalRecord[]
}

export interface Journal {
  /**
   * The records after this number, for a database at this position. Throws StoreError `store_behind` when the first of them is not there
   * any more.
   */
  read(after: number, here: JournalPosition): Promise<JournalPart>
  /** Resolves when nobody else can append. A long one may be silent for two minutes. Throws StoreError `store_unavailable`. */
  takeTurn(manners: 'long' | undefined, here: JournalPosition): Promise<JournalTurn>
  close(): Promise<void>
}

/** That one hub may do something, until another one has the lease: then its term is another one. */
export interface LeaseTerm {
  readonly name: string
  readonly term: number
}

/** It ends with its first `append` or `release`. */
export interface JournalTurn {
  readonly end: JournalPosition
  /** Of all leases, by their names, for as long as the turn lasts. */
  readonly terms: ReadonlyMap<string, number>
  /**
   * The record that makes this the end. Resolves when it is durable. Throws StoreError: `store_unavailable` when it is not there,
   * `store_unknown` when nobody can say.
   */
  append(record: JournalRecord, end: JournalPosition): Promise<void>
  /** Never rejects. */
  release(): Promise<void>
}
