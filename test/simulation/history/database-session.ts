// One connection of a simulated PostgreSQL, at the side of the server: statements in their order, a transaction, and the wait for a lock.

import type { Faults } from './faults.ts'
import type { Kernel, Program } from './kernel.ts'

export interface Answer {
  readonly command: string
  readonly rows: readonly object[]
}

/** What a connection is told; nothing when the answer is lost. */
export interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
  settle(this: void, answer: Answer | Error): void
}

export interface Transaction {
  /** What its COMMIT does. */
  readonly changes: (() => void)[]
  readonly locks: Set<Lock>
  isFailed: boolean
  /** Of a turn at the journal: who had the leases when it began. */
  holders: ReadonlyMap<string, Program> | undefined
  /** Whether it has a record. */
  isOfRecord: boolean
}

export interface Lock {
  holder: Session | undefined
  readonly waiting: Session[]
}

/** What a session asks of its server. */
export interface DatabaseServer {
  readonly kernel: Kernel
  readonly faults: Faults
  /** Answers undefined while it waits for a lock. */
  run(session: Session, text: string, values: readonly unknown[]): Answer | undefined
  /** Answers when it is durable, or is not; undefined when the answer is lost. */
  commit(session: Session, settle: (answer: Answer | undefined) => void): void
  /** A COMMIT that was under way when its session ended, which is there or not. */
  settleByChance(session: Session): void
  /** Its locks. */
  release(session: Session): void
}

export const LATENCY_MS_MAX = 4
const IDLE_TIMEOUT_MS = 2000

/** One connection, at the side of the server. */
export class Session {
  readonly program: Program
  transaction: Transaction | undefined
  isCommitting = false
  isEnded = false
  /** How many statements have come. */
  asked = 0
  onEnd: () => void = () => undefined
  readonly #database: DatabaseServer
  readonly #forget: () => void
  readonly #sent: Asked[] = []
  readonly #waiting: Asked[] = []
  #arrivesAtMs = 0
  #isSilent = false

  constructor(database: DatabaseServer, program: Program, forget: () => void) {
    this.#database = database
    this.program = program
    this.#forget = forget
    program.onDeath(() => this.end())
  }

  ask(asked: Asked): void {
    const { kernel, faults } = this.#database
    const nowMs = kernel.now().getTime()
    this.#sent.push(asked)
    this.#arrivesAtMs = Math.max(this.#arrivesAtMs, nowMs + kernel.random() * LATENCY_MS_MAX)
    kernel.after(this.#arrivesAtMs - nowMs, () => {
      // In the order in which they are sent.
      const next = this.#sent.shift()
      if (this.isEnded || next === undefined) return
      this.asked += 1
      if (faults.happens('database silent')) this.#isSilent = true
      if (faults.happens('database connection cut')) {
        this.endWithServer()
        return
      }
      this.#waiting.push(next)
      if (this.#waiting.length === 1) this.goOn()
    })
  }

  /** What is at the front may wait for a lock still. */
  goOn(): void {
    for (;;) {
      const [next] = this.#waiting
      if (this.isEnded || this.#isSilent || this.isCommitting || next === undefined) break
      const { text, values } = next
      if (this.transaction?.isFailed === true && text !== 'COMMIT' && text !== 'ROLLBACK') {
        this.#answer(new Error('current transaction is aborted'))
        continue
      }
      if (text === 'COMMIT') {
        this.#database.commit(this, (answer) => {
          this.#waiting.shift()
          if (answer !== undefined) next.settle(answer)
          this.goOn()
        })
        if (this.#waiting[0] === next) break
        continue
      }
      const answer = this.#database.run(this, text, values)
      if (answer === undefined) return
      this.#answer(answer)
    }
    this.#endIfIdle()
  }

  failWaiting(): void {
    if (this.transaction !== undefined) this.transaction.isFailed = true
    this.#answer(new Error('canceling statement due to lock timeout'))
    this.goOn()
  }

  rollBack(): void {
    this.transaction = undefined
    this.#database.release(this)
  }

  /** By its client. */
  end(): void {
    if (this.isEnded) return
    // A COMMIT that has arrived goes on by itself.
    if (this.isCommitting) this.#database.settleByChance(this)
    this.isEnded = true
    this.#forget()
    this.rollBack()
  }

  /** And its client finds out. */
  endWithServer(): void {
    if (this.isEnded) return
    this.end()
    const { kernel } = this.#database
    kernel.after(kernel.random() * LATENCY_MS_MAX, () => this.onEnd())
  }

  #answer(answer: Answer | Error): void {
    this.#waiting.shift()?.settle(answer)
  }

  /** A transaction that says nothing frees what it holds. */
  #endIfIdle(): void {
    if (this.transaction === undefined || this.isCommitting) return
    const { asked, transaction } = this
    this.#database.kernel.after(IDLE_TIMEOUT_MS, () => {
      const isIdle = this.asked === asked && this.transaction === transaction
      if (isIdle && !this.isCommitting) this.endWithServer()
    })
  }
}
