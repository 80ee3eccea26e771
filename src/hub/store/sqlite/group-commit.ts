// Writes that arrive together share one transaction and so one fsync. Each runs in a savepoint of its own, so that one
// that fails takes nothing with it; none is acknowledged before the commit.

import { type Clock, systemClock } from '../../../platform/clock.ts'
import { invariant } from '../../../platform/errors.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { JournalRecord, LeaseTerm } from '../journal.ts'
import { StoreError } from '../store-error.ts'
import type { StoreWriter, WriteCompany } from '../store.ts'
import type { Connection } from './encrypted-database.ts'
import { AgentVersions } from './agent-versions.ts'
import { bringTablesForward, type RequireReadable } from './bring-tables-forward.ts'
import { type ChangeRecord, ChangeRecorder } from './change-record.ts'
import { selectLastEntry } from './entries.ts'
import { leaveJournal } from './journal-position.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'
import {
  type FollowedTurn,
  JournalFollower,
  RecordRefused,
  type SharedJournal,
} from './journal-follower.ts'
import { SqlSession } from './sql-session.ts'
import { SqliteWriter } from './sqlite-writer.ts'
import { TokenEnds } from './token-ends.ts'
import { TransactionMemory } from './transaction-memory.ts'

/** A transaction that ended, for the metrics that count transactions. */
export interface CommittedBatch {
  readonly writes: number
  /** The commit alone, which is the wait for the disk. */
  readonly commitMs: number
  readonly isCommitted: boolean
  /** How long it waited for its turn at the journal, where there is one. */
  readonly turnMs: number | undefined
}

type Work = (writer: StoreWriter) => Promise<unknown>
type Settle = () => void

interface QueuedWrite {
  readonly work: Work
  readonly company: WriteCompany | undefined
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  /** How often the journal has refused it. */
  refusals: number
}

interface WorkOutcome {
  readonly settle: Settle
  /** What it appended last to the audit log. */
  readonly lastEntry?: AuditEntry | undefined
}

export interface GroupCommitOptions {
  /** Shared with other hubs: each transaction goes there before it is committed here. */
  readonly shared?: SharedJournal | undefined
  /** Told the last entry of each commit that appended to the audit log, before its writes are acknowledged. */
  readonly onCommit?: ((last: AuditEntry) => void) | undefined
  /** Told of each transaction, for metrics. */
  readonly onBatch?: ((batch: CommittedBatch) => void) | undefined
  /** Told of each record of another hub, for metrics. */
  readonly onRecord?: (() => void) | undefined
  readonly clock?: Pick<Clock, 'sleep'> | undefined
  /** Copies the write-ahead log into the file; nobody writes meanwhile. */
  readonly copyLog?: (() => Promise<void>) | undefined
}

/** A commit of one certificate costs the hub as much CPU as to verify four signatures, one of several little more. docs/protocol.md RES-15. */
const COMPANY_WAIT_MS = 10
/**
 * SQLite copies the write-ahead log into the file when it has grown long, within a commit. Of pages that change again and again that is
 * little; of pages all over the file it is all that was written, and holds everybody up for as long as a second.
 */
const IN_PASSING_MAX = 4
const BATCH_WRITES_MAX = 256
const QUEUED_WRITES_MAX = 16_384
/** Connections of the journal that a write may lose. */
const REFUSALS_MAX = 3

export class GroupCommit {
  readonly #connection: Connection
  readonly #session: SqlSession
  readonly #onCommit: (last: AuditEntry) => void
  readonly #onBatch: (batch: CommittedBatch) => void
  readonly #onRecord: () => void
  readonly #clock: Pick<Clock, 'sleep'>
  readonly #follower: JournalFollower | undefined
  readonly #copyLog: () => Promise<void>
  readonly #onFollowed: SharedJournal['onFollowed']
  readonly #queue: QueuedWrite[] = []
  /** Of what `Store.version` counts. */
  readonly versions: AgentVersions = new AgentVersions()
  readonly #tokenEnds = new TokenEnds()
  #commits = 0
  /** Since the log was copied. */
  #inPassing = 0
  #isRunning = false
  #isWaiting = false
  #isClosed = false
  #drained: Settle | undefined
  readonly #atRest: Settle[] = []
  readonly #following: Pick<QueuedWrite, 'resolve' | 'reject'>[] = []

  constructor(connection: Connection, options: GroupCommitOptions = {}) {
    const { onCommit = () => undefined, onBatch = () => undefined, clock = systemClock } = options
    const { copyLog = () => Promise.resolve(), onRecord = () => undefined } = options
    this.#connection = connection
    this.#onCommit = onCommit
    this.#onBatch = onBatch
    this.#onRecord = onRecord
    this.#clock = clock
    this.#copyLog = copyLog
    this.#session = new SqlSession(connection)
    this.#onFollowed = options.shared?.onFollowed
    this.#follower =
      options.shared &&
      new JournalFollower(this.#session, options.shared, (changes) => this.#noteFollowed(changes))
  }

  /** Commits so far. */
  get commits(): number {
    return this.#commits
  }

  /** Of the last record of the journal that is here; 0 without a journal. */
  get position(): number {
    return this.#follower?.number ?? 0
  }

  /** Records after this number that this database keeps, oldest first. */
  listKept(after: number): readonly JournalRecord[] {
    return this.#follower?.listKept(after) ?? []
  }

  write<T>(work: (writer: StoreWriter) => Promise<T>, company?: WriteCompany): Promise<T> {
    if (this.#isClosed) return Promise.reject(unavailable('the store is closed'))
    if (this.#queue.length >= QUEUED_WRITES_MAX) {
      return Promise.reject(unavailable('too many writes are waiting'))
    }
    return new Promise<T>((resolve, reject) => {
      // What resolves a write is the value of its own work.
      this.#queue.push({
        work,
        company,
        resolve: resolve as (value: unknown) => void,
        reject,
        refusals: 0,
      })
      if (!this.#isRunning) this.#scheduleOrWait()
    })
  }

  /** Resolves when everything is here that the journal had when this was called. */
  follow(): Promise<void> {
    if (this.#isClosed) return Promise.reject(unavailable('the store is closed'))
    return new Promise<void>((resolve, reject) => {
      this.#following.push({ resolve: () => resolve(), reject })
      this.#schedule()
    })
  }

  /** Tables that are shared become those of this program, here and for all others. Writes wait meanwhile. */
  async bringTablesForward(requireReadable: RequireReadable): Promise<void> {
    if (this.#follower === undefined) return
    while (this.#isRunning) await new Promise<void>((resolve) => this.#atRest.push(resolve))
    this.#isRunning = true
    try {
      await bringTablesForward(this.#session, this.#follower, requireReadable)
    } finally {
      this.versions.noteCommit('all agents')
      this.#isRunning = false
      if (this.#queue.length + this.#following.length > 0) this.#schedule()
    }
  }

  /** Runs `work`, which awaits nothing, between two transactions. */
  async atRest<T>(work: () => T): Promise<T> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#atRest.push(resolve))
    if (this.#isClosed) throw unavailable('the store is closed')
    invariant(!this.#connection.inTransaction, 'no transaction is under way')
    return work()
  }

  /** Refuses further writes and resolves when the accepted writes are settled. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#queue.length + this.#following.length > 0) this.#schedule()
    if (!this.#isRunning) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
    })
  }

  /** One that does not wait for company takes with it all that do. */
  #scheduleOrWait(): void {
    const isCompanyExpected = this.#queue.every(({ company }) => company?.isExpected() === true)
    if (this.#isClosed || !isCompanyExpected) this.#schedule()
    else if (!this.#isWaiting) void this.#waitForCompany()
  }

  async #waitForCompany(): Promise<void> {
    this.#isWaiting = true
    await this.#clock.sleep(COMPANY_WAIT_MS)
    this.#isWaiting = false
    if (this.#queue.length > 0) this.#schedule()
  }

  /** A turn of the event loop later, so that other callers that are about to write come along. */
  #schedule(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(() => void this.#runBatch())
  }

  async #runBatch(): Promise<void> {
    await this.#followNow(this.#following.splice(0))
    const batch = this.#queue.splice(0, BATCH_WRITES_MAX)
    if (batch.length > 0) await this.#commitWithSync(batch)
    if (this.#inPassing >= IN_PASSING_MAX) {
      this.#inPassing = 0
      await this.#copyLog()
    }
    this.#isRunning = false
    // They run before the next batch, which begins a turn of the event loop later.
    for (const resolve of this.#atRest.splice(0)) resolve()
    if (this.#following.length > 0) this.#schedule()
    else if (this.#queue.length > 0) this.#scheduleOrWait()
    else this.#drained?.()
  }

  async #followNow(waiting: readonly Pick<QueuedWrite, 'resolve' | 'reject'>[]): Promise<void> {
    if (waiting.length === 0) return
    try {
      await this.#follower?.follow()
      for (const { resolve } of waiting) resolve(undefined)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  /** Without a sync when all of it may be undone, and nobody else has been told of it. */
  async #commitWithSync(batch: readonly QueuedWrite[]): Promise<void> {
    const inPassing = batch.filter(({ company }) => company?.isInPassing === true)
    this.#inPassing += inPassing.length
    const isKeptElsewhere = this.#follower !== undefined
    if (isKeptElsewhere || inPassing.length < batch.length) return this.#commitBatch(batch)
    this.#connection.pragma('synchronous = NORMAL')
    try {
      return await this.#commitBatch(batch)
    } finally {
      this.#connection.pragma('synchronous = FULL')
    }
  }

  async #commitBatch(batch: readonly QueuedWrite[]): Promise<void> {
    const outcomes: Settle[] = []
    let taken = batch
    let last: AuditEntry | undefined
    let commitMs = 0
    let turnMs: number | undefined
    const askedMs = performance.now()
    let isShared = false
    const memory = new TransactionMemory(this.#tokenEnds)
    const turn = new TurnGuard()
    let shared: FollowedTurn | undefined
    let changed: ReadonlySet<AgentId> | 'all agents' | undefined
    try {
      shared = await this.#follower?.takeTurn()
      turnMs = shared && performance.now() - askedMs
      const changesBefore = this.#session.changes
      this.#session.takeChangedAgents()
      this.#session.run('BEGIN IMMEDIATE')
      if (shared === undefined) leaveJournal(this.#session)
      this.#session.recorder = shared && new ChangeRecorder()
      for (const queued of batch) {
        const { lease } = queued.company ?? {}
        if (lease !== undefined && shared?.has(lease) !== true) {
          outcomes.push(() => queued.reject(lostLease(lease)))
          continue
        }
        const outcome = await this.#runInSavepoint(queued, memory, turn)
        outcomes.push(outcome.settle)
        last = outcome.lastEntry ?? last
        if (this.#session.recorder?.isFull === true) break
      }
      taken = batch.slice(0, outcomes.length)
      // The rest of a batch that makes a large record is the next batch.
      this.#queue.unshift(...batch.slice(taken.length))
      if (this.#session.changes !== changesBefore) changed = this.#session.takeChangedAgents()
      const startMs = performance.now()
      const done = this.#session.recorder?.take()
      if (done !== undefined && done.statements.length > 0) {
        const agents = changed === 'all agents' ? changed : [...(changed ?? [])]
        await shared?.append({ ...done, agents })
        isShared = true
      }
      this.#session.run('COMMIT')
      commitMs = performance.now() - startMs
    } catch (error) {
      this.#rollBack()
      memory.forget()
      const failure = describeFailedCommit(error, isShared)
      for (const queued of this.#queueAgain(taken, error)) queued.reject(failure)
      this.#onBatch({ writes: taken.length, commitMs, turnMs, isCommitted: false })
      return
    } finally {
      this.#session.recorder = undefined
      turn.end()
      if (!isShared) await shared?.release()
    }
    this.#commits += 1
    if (changed !== undefined) this.versions.noteCommit(changed)
    this.#onBatch({ writes: taken.length, commitMs, turnMs, isCommitted: true })
    if (last !== undefined) this.#onCommit(last)
    for (const settle of outcomes) settle()
  }

  /** A record that the journal has refused may be taken the next time. Answers those that are not tried again. */
  #queueAgain(batch: readonly QueuedWrite[], error: unknown): readonly QueuedWrite[] {
    if (!(error instanceof RecordRefused)) return batch
    for (const queued of batch) queued.refusals += 1
    const isOver = ({ refusals }: QueuedWrite): boolean => refusals > REFUSALS_MAX
    this.#queue.unshift(...batch.filter((queued) => !isOver(queued)))
    return batch.filter(isOver)
  }

  /** What another hub did is committed here. */
  #noteFollowed({ agents, news }: ChangeRecord): void {
    this.#onRecord()
    this.#tokenEnds.forget()
    this.versions.noteCommit(agents === 'all agents' ? agents : new Set(agents))
    const last = selectLastEntry(this.#session)
    if (last !== undefined) this.#onCommit(last)
    if (news.length > 0) this.#onFollowed?.(news)
  }

  /** Throws only when the whole transaction is gone. */
  async #runInSavepoint(
    queued: QueuedWrite,
    memory: TransactionMemory,
    turn: TurnGuard,
  ): Promise<WorkOutcome> {
    const lease = { isActive: true }
    const writer = new SqliteWriter(() => this.#sessionFor(lease), memory)
    const { recorder } = this.#session
    const mark = recorder?.mark
    this.#session.run('SAVEPOINT work')
    try {
      const value = await turn.within(queued.work(writer))
      this.#requireTransaction()
      this.#session.run('RELEASE work')
      return { settle: () => queued.resolve(value), lastEntry: writer.lastAppended }
    } catch (error) {
      // After some failures (disk full, I/O) SQLite has rolled back everything by itself.
      if (!this.#connection.inTransaction) throw error
      memory.forget()
      if (mark !== undefined) recorder?.backTo(mark)
      this.#session.run('ROLLBACK TO work')
      this.#session.run('RELEASE work')
      return { settle: () => queued.reject(error) }
    } finally {
      lease.isActive = false
    }
  }

  /** A write function that outlives its transaction, or the transaction itself, must not write by itself. */
  #sessionFor(lease: { readonly isActive: boolean }): SqlSession {
    invariant(lease.isActive, 'a writer is used only inside its write function')
    this.#requireTransaction()
    return this.#session
  }

  #requireTransaction(): void {
    if (!this.#connection.inTransaction) throw unavailable('the transaction was rolled back')
  }

  #rollBack(): void {
    if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK')
  }
}

/**
 * A write function that awaits nothing but its writer ends within the turn of the event loop in which it started. One
 * that does not would hold up every other write, for ever if it waits for one of them. All functions of a batch run in one turn
 * unless one of them fails this way, and so share what tells that the turn is over.
 */
class TurnGuard {
  #immediate: NodeJS.Immediate | undefined
  #giveUp: Settle | undefined

  async within<T>(work: Promise<T>): Promise<T> {
    this.#immediate ??= setImmediate(() => {
      this.#immediate = undefined
      this.#giveUp?.()
    })
    const result = await new Promise<{ readonly value: T } | undefined>((resolve, reject) => {
      this.#giveUp = () => resolve(undefined)
      work.then((value) => resolve({ value }), reject)
    })
    invariant(result !== undefined, 'a write function awaits nothing but its writer')
    return result.value
  }

  end(): void {
    clearImmediate(this.#immediate)
  }
}

/** Once others have the transaction, it has happened: this database follows it later. */
function describeFailedCommit(error: unknown, isShared: boolean): StoreError {
  const cause = describeSqliteFailure(error)
  if (isShared) {
    return new StoreError('store_unknown', 'the write is in the journal, and not yet here', {
      cause,
    })
  }
  // What the journal says is in words already.
  return error instanceof StoreError
    ? error
    : unavailable('the write could not be committed', cause)
}

function lostLease({ name }: LeaseTerm): StoreError {
  return new StoreError('lease_lost', `another hub has the lease ${name}`)
}

function unavailable(message: string, cause?: unknown): StoreError {
  return new StoreError('store_unavailable', message, { cause })
}
