// A database that shares a journal: it does what others did, in their order, and appends what it does itself.

import { invariant } from '../../../platform/errors.ts'
import type { Journal, JournalPosition, JournalRecord, JournalTurn, LeaseTerm } from '../journal.ts'
import { isSamePosition, positionAfter, type RecordSeal } from '../record-seal.ts'
import { StoreError } from '../store-error.ts'
import type { ChangeRecord } from './change-record.ts'
import { formatChangeRecord, parseChangeRecord } from './change-record-form.ts'
import { noteJournalPosition, selectJournalPosition } from './journal-position.ts'
import { keepRecord, selectKeptRecords } from './kept-records.ts'
import type { Migration } from './migration.ts'
import { MIGRATIONS } from './migrations.ts'
import { replayChanges } from './replay-changes.ts'
import type { SqlSession } from './sql-session.ts'
import type { TablesStep } from './tables-version.ts'

export interface SharedJournal {
  readonly journal: Journal
  readonly seal: RecordSeal
  /** What this hub has to have for each of its writes. */
  readonly standing?: (() => LeaseTerm | undefined) | undefined
  /** Told what another hub has to say of what it did, once that is committed here. */
  readonly onFollowed?: ((news: ChangeRecord['news']) => void) | undefined
  /** Told of each step of the tables that is committed here, also of one that another hub took. */
  readonly onTables?: ((step: TablesStep) => void) | undefined
  /** What this program knows. */
  readonly migrations?: readonly Migration[] | undefined
  /** Of how many bytes records are to stay in this database once they are run, or appended. Undefined where it keeps none ever. */
  readonly keptBytes?: (() => number) | undefined
}

/** A turn at the journal, once this database has all that the journal has. */
export interface FollowedTurn {
  /** Whether this hub has the lease for as long as the turn lasts. */
  has(lease: LeaseTerm): boolean
  /** Inside the transaction that is committed next, and is rolled back when this fails. */
  append(changes: ChangeRecord): Promise<void>
  release(): Promise<void>
}

/** The record is not in the journal, which may take it the next time. */
export class RecordRefused extends StoreError {
  override name = 'RecordRefused'
  constructor(cause: StoreError) {
    super('store_unavailable', cause.message, { cause })
  }
}

export class JournalFollower {
  readonly #session: SqlSession
  readonly #journal: Journal
  readonly #seal: RecordSeal
  readonly #standing: () => LeaseTerm | undefined
  readonly #onFollowed: (changes: ChangeRecord) => void
  readonly #onTables: (step: TablesStep) => void
  readonly migrations: readonly Migration[]
  readonly #keptBytes: SharedJournal['keptBytes']

  /** `onFollowed` is told of each transaction of others after it is committed here. */
  constructor(
    session: SqlSession,
    shared: SharedJournal,
    onFollowed: (changes: ChangeRecord) => void,
  ) {
    const { journal, seal, standing = () => undefined, migrations = MIGRATIONS } = shared
    this.#session = session
    this.#journal = journal
    this.#seal = seal
    this.#standing = standing
    this.#onFollowed = onFollowed
    this.#onTables = shared.onTables ?? (() => undefined)
    this.migrations = migrations
    this.#keptBytes = shared.keptBytes
  }

  /** Does what the journal has. Outside of a transaction. */
  async follow(): Promise<void> {
    for (;;) {
      const here = this.#position
      const { end, records } = await this.#journal.read(here.number, here)
      for (const record of records) this.#do(record)
      this.#requireSameJournal(end)
      if (this.#position.number === end.number) return
    }
  }

  async takeTurn(manners?: 'long'): Promise<FollowedTurn> {
    const turn = await this.#journal.takeTurn(manners, this.#position)
    const has = ({ name, term }: LeaseTerm): boolean => turn.terms.get(name) === term
    try {
      const standing = this.#standing()
      if (standing !== undefined && !has(standing)) throw removed()
      this.#requireSameJournal(turn.end)
      if (this.#position.number < turn.end.number) await this.follow()
    } catch (error) {
      await turn.release()
      throw error
    }
    return {
      has,
      append: (changes) => this.#append(turn, changes),
      release: () => turn.release(),
    }
  }

  /** What brings the tables forward is committed here. */
  noteTables(step: TablesStep): void {
    this.#onTables(step)
  }

  /** Of those that this database keeps. */
  listKept(after: number): readonly JournalRecord[] {
    return selectKeptRecords(this.#session, after)
  }

  /** Of the last record that is here. */
  get number(): number {
    return this.#position.number
  }

  get #position(): JournalPosition {
    return selectJournalPosition(this.#session)
  }

  /** A journal that lost its end does not say so, nor does one that somebody else began: what was acknowledged would be written over. */
  #requireSameJournal(end: JournalPosition): void {
    const { number } = this.#position
    if (number < end.number || isSamePosition(this.#position, end)) return
    throw new StoreError(
      'store_diverged',
      number === end.number
        ? `the journal is another one: its record ${number} is not the one that this vault has followed`
        : `the journal lost records: this vault has followed ${number}, the journal has ${end.number}`,
    )
  }

  #do(record: JournalRecord): void {
    const session = this.#session
    const before = this.#position
    const changes = parseChangeRecord(this.#seal.open(before, record))
    session.run('BEGIN IMMEDIATE')
    try {
      replayChanges(session, changes, this.migrations)
      noteJournalPosition(session, positionAfter(before, record))
      this.#keep(record)
      session.run('COMMIT')
    } catch (error) {
      if (session.inTransaction) session.run('ROLLBACK')
      throw error
    }
    if (changes.tables !== undefined) this.#onTables(changes.tables)
    this.#onFollowed(changes)
  }

  #keep(record: JournalRecord): void {
    const bytesMax = this.#keptBytes?.()
    if (bytesMax !== undefined) keepRecord(this.#session, record, bytesMax)
  }

  async #append(turn: JournalTurn, changes: ChangeRecord): Promise<void> {
    const before = this.#position
    invariant(isSamePosition(before, turn.end), 'who appends has followed everything before')
    const record = this.#seal.seal(before, formatChangeRecord(changes))
    const end = positionAfter(before, record)
    noteJournalPosition(this.#session, end)
    try {
      await turn.append(record, end)
      this.#keep(record)
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_unavailable')) throw error
      throw new RecordRefused(error)
    }
  }
}

function removed(): StoreError {
  return new StoreError('hub_removed', 'this hub was removed from those that share the vault', {
    hint: 'svc hubs list on another hub shows them; a hub that starts again is one of them again',
  })
}
