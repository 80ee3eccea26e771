// The PostgreSQL of several hubs, as far as they speak with it: their statements, its locks and its timeouts, by virtual time. It goes away, fails over, falls silent
// and cuts connections, in a COMMIT too: what it has answered stays, what it has not answered may be there or not. Not modelled: images, and records that go.

import { invariant } from '../../../src/platform/errors.ts'
import {
  type Answer,
  type DatabaseServer,
  LATENCY_MS_MAX,
  type Lock,
  Session,
  type Transaction,
} from './database-session.ts'
import type { Faults } from './faults.ts'
import { HubTables } from './hub-tables.ts'
import type { Kernel, Program } from './kernel.ts'
import { TurnModel } from './turn-model.ts'

export interface SimulatedDatabaseOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly vaultId: string
  /** Before the first record. */
  readonly beginning: Buffer
  readonly note: (text: string) => void
}

interface Row {
  readonly sealed: Buffer
  readonly bytes: number
}

interface End {
  readonly number: number
  readonly hash: Buffer
  readonly bytes: number
}

/**
 * Hubs beat each second, and look at the journal four times as often: here that would be nearly all that happens. So what they promise each
 * other by seconds they promise by minutes, and the clock by which the database lends its leases is as slow.
 */
export const HUB_SLOWNESS = 60

const COMMIT_MS_MAX = 5
const LOCK_TIMEOUT_MS = 5000
const RECORDS_MAX = 8
const OF_LEASES = /^(?:INSERT INTO|UPDATE|DELETE FROM) posse/

export class SimulatedDatabase implements DatabaseServer {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly turns: TurnModel
  /** For a fault put in on purpose: who gets no answer to COMMIT takes it for one that failed. */
  takesSilenceForFailure = false
  readonly #options: SimulatedDatabaseOptions
  readonly #records = new Map<number, Row>()
  #end: End
  readonly #hubs: HubTables
  readonly #sessions = new Set<Session>()
  readonly #locks: Readonly<Record<'end' | 'leases', Lock>> = {
    end: { holder: undefined, waiting: [] },
    leases: { holder: undefined, waiting: [] },
  }
  #awayUntilMs = 0

  constructor(options: SimulatedDatabaseOptions) {
    this.#options = options
    this.kernel = options.kernel
    this.faults = options.faults
    this.#end = { number: 0, hash: options.beginning, bytes: 0 }
    this.turns = new TurnModel(options.kernel)
    this.#hubs = new HubTables({
      kernel: options.kernel,
      nowMs: () => this.nowMs(),
      onEntered: (program) => this.turns.noteEntered(program),
    })
  }

  get beginning(): Buffer {
    return this.#options.beginning
  }

  get end(): Pick<End, 'number'> {
    return this.#end
  }

  get isAway(): boolean {
    return this.kernel.now().getTime() < this.#awayUntilMs
  }

  get awayUntilMs(): number {
    return this.#awayUntilMs
  }

  /** Whoever has the lease by the database's clock. */
  holderOf(name: string): Program | undefined {
    return this.#hubs.holderOf(name)
  }

  /** No server takes writes for so long; what was under way ends. */
  goAway(durationMs: number, why: string): void {
    this.#options.note(`the database ${why}`)
    this.#awayUntilMs = Math.max(this.#awayUntilMs, this.kernel.now().getTime() + durationMs)
    for (const session of this.#sessions) session.endWithServer()
  }

  comeBack(): void {
    this.#awayUntilMs = Math.min(this.#awayUntilMs, this.kernel.now().getTime())
  }

  connect(program: Program, settle: (opened: Session | Error) => void): void {
    const { kernel } = this
    kernel.after(kernel.random() * LATENCY_MS_MAX, () => {
      const isRefused = this.isAway || this.faults.happens('database connection refused')
      if (isRefused) settle(new Error('connect ECONNREFUSED'))
      else settle(this.#open(program))
    })
  }

  nowMs(): number {
    return this.kernel.now().getTime() / HUB_SLOWNESS
  }

  #open(program: Program): Session {
    const session = new Session(this, program, () => this.#sessions.delete(session))
    this.#sessions.add(session)
    return session
  }

  /** Answers undefined while it waits for a lock. */
  run(session: Session, text: string, values: readonly unknown[]): Answer | undefined {
    const { transaction } = session
    const rows = (...found: readonly object[]): Answer => ({ command: '', rows: found })
    if (text === 'BEGIN') {
      session.transaction = {
        changes: [],
        locks: new Set(),
        isFailed: false,
        holders: undefined,
        isOfRecord: false,
      }
      return rows()
    }
    if (text === 'ROLLBACK') {
      session.rollBack()
      return rows()
    }
    if (text === 'SHOW transaction_read_only') return rows({ transaction_read_only: 'off' })
    if (text.startsWith('SELECT cofre')) {
      if (text.endsWith('FOR UPDATE')) {
        if (!this.#lock('end', session)) return undefined
        this.turns.begin(session.program)
      }
      return rows(this.#endRow())
    }
    if (text.startsWith('SELECT fim.cofre')) return rows(...this.#recordsAfter(Number(values[0])))
    if (text === 'SELECT nome, termo FROM posse') {
      if (transaction !== undefined) transaction.holders = this.#hubs.holders()
      return rows(...this.#hubs.listTerms())
    }
    if (text.startsWith('SELECT numero, selado FROM diario')) {
      const number = Number(values[0])
      const found = this.#records.get(number)
      return rows(...(found ? [{ numero: String(number), selado: found.sealed }] : []))
    }
    if (text.startsWith('SELECT count(*)')) {
      return rows({ hubs: this.#hubs.countRunning() })
    }
    if (text.startsWith('SELECT hub.id')) return rows(...this.#hubs.listHubs())
    invariant(transaction !== undefined, `a transaction has begun before ${text}`)
    return this.#change(session, transaction, text, values)
  }

  #change(
    session: Session,
    transaction: Transaction,
    text: string,
    values: readonly unknown[],
  ): Answer | undefined {
    const { changes } = transaction
    const done = { command: '', rows: [] }
    if (text.startsWith('INSERT INTO diario ')) {
      const [number, sealed, bytes] = values as [number, Buffer, number]
      invariant(number === this.#end.number + 1, 'records are numbered in order')
      invariant(transaction.locks.has(this.#locks.end), 'who appends has the turn')
      transaction.isOfRecord = true
      changes.push(() => this.#records.set(number, { sealed, bytes }))
      return done
    }
    if (text.startsWith('UPDATE diario_fim SET numero = $1')) {
      const [number, hash, bytes] = values as [number, Buffer, number]
      changes.push(() => {
        this.#end = { number, hash, bytes }
      })
      return done
    }
    if (text.startsWith('UPDATE diario_fim SET numero = numero')) return done
    if (OF_LEASES.test(text) && !this.#lock('leases', session)) return undefined
    return { command: '', rows: this.#hubs.change(text, values, session.program, changes) }
  }

  /** When it is durable, or is not. */
  commit(session: Session, settle: (answer: Answer | undefined) => void): void {
    const { transaction } = session
    const { kernel, faults } = this
    if (transaction === undefined || transaction.isFailed) {
      session.rollBack()
      settle({ command: 'ROLLBACK', rows: [] })
      return
    }
    if (transaction.isOfRecord && faults.happens('database connection cut in COMMIT')) {
      if (kernel.random() < 0.5) this.#apply(session, transaction)
      session.endWithServer()
      return
    }
    session.isCommitting = true
    kernel.after(kernel.random() * COMMIT_MS_MAX, () => {
      if (session.isEnded) return
      session.isCommitting = false
      this.#apply(session, transaction)
      const isLost = transaction.isOfRecord && faults.happens('database reply to COMMIT lost')
      settle(isLost ? undefined : { command: 'COMMIT', rows: [] })
    })
  }

  /** A COMMIT that was under way when its server ended, which is there or not. */
  settleByChance(session: Session): void {
    const { transaction } = session
    if (transaction === undefined || this.kernel.random() < 0.5) return
    this.#apply(session, transaction)
  }

  release(session: Session): void {
    for (const lock of Object.values(this.#locks)) {
      const index = lock.waiting.indexOf(session)
      if (index >= 0) lock.waiting.splice(index, 1)
      if (lock.holder !== session) continue
      const next = lock.waiting.shift()
      lock.holder = next
      if (next !== undefined) next.goOn()
    }
  }

  #apply(session: Session, transaction: Transaction): void {
    if (transaction.isOfRecord) {
      this.turns.judgeRecord(session.program, transaction.holders ?? new Map())
    }
    for (const change of transaction.changes) change()
    transaction.changes.length = 0
    session.rollBack()
  }

  #lock(name: 'end' | 'leases', session: Session): boolean {
    const lock = this.#locks[name]
    if (lock.holder === undefined || lock.holder === session) {
      lock.holder = session
      session.transaction?.locks.add(lock)
      return true
    }
    if (!lock.waiting.includes(session)) {
      lock.waiting.push(session)
      const waited = session.asked
      this.kernel.after(LOCK_TIMEOUT_MS, () => {
        if (lock.waiting.includes(session) && session.asked === waited) session.failWaiting()
      })
    }
    return false
  }

  #endRow() {
    const { number, hash, bytes } = this.#end
    const { vaultId } = this.#options
    return {
      cofre: vaultId,
      fim: String(number),
      resumo: hash,
      bytes: String(bytes),
      encerrado: false,
    }
  }

  #recordsAfter(after: number): object[] {
    const end = this.#endRow()
    const found: object[] = []
    for (let number = after + 1; found.length < RECORDS_MAX; number += 1) {
      const record = this.#records.get(number)
      if (record === undefined) break
      found.push({ ...end, numero: String(number), selado: record.sealed })
    }
    return found.length === 0 ? [{ ...end, numero: null, selado: null }] : found
  }
}
