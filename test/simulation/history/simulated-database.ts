// oxlint-disable max-lines -- One hub and several are one model.
// The PostgreSQL of several hubs, as far as they speak with it: their statements, its locks and its timeouts, by virtual time. It goes away, fails over, falls silent
// and cuts connections, in a COMMIT too: what it has answered stays, what it has not answered may be there or not. Not modelled: images, and records that go.

import { STANDING } from '../../../src/hub/store/hub-registry.ts'
import { invariant } from '../../../src/platform/errors.ts'
import { demand } from './demand.ts'
import type { Faults } from './faults.ts'
import type { Kernel, Program } from './kernel.ts'

export interface SimulatedDatabaseOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly vaultId: string
  /** Before the first record. */
  readonly beginning: Buffer
  readonly note: (text: string) => void
}

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

interface Row {
  readonly sealed: Buffer
  readonly bytes: number
}

interface End {
  readonly number: number
  readonly hash: Buffer
  readonly bytes: number
}

interface Lease {
  readonly hub: string
  readonly instance: string
  readonly term: number
  readonly untilMs: number
  /** Who took it. */
  readonly program: Program
}

interface KnownHub {
  readonly sealed: Buffer
  readonly number: number
  readonly aheadMs: number
  readonly seenMs: number
}

interface Transaction {
  /** What its COMMIT does. */
  readonly changes: (() => void)[]
  readonly locks: Set<Lock>
  isFailed: boolean
  /** Of a turn at the journal: who had the leases when it began. */
  holders: ReadonlyMap<string, Program> | undefined
  /** Whether it has a record. */
  isOfRecord: boolean
}

interface Lock {
  holder: Session | undefined
  readonly waiting: Session[]
}

/** What a program does in its turn at the journal. */
interface Turn {
  readonly writes: Set<object>
  isOfJobs: boolean
}

/**
 * Hubs beat each second, and look at the journal four times as often: here that would be nearly all that happens. So what they promise each
 * other by seconds they promise by minutes, and the clock by which the database lends its leases is as slow.
 */
export const HUB_SLOWNESS = 60

const LATENCY_MS_MAX = 4
const COMMIT_MS_MAX = 5
const LOCK_TIMEOUT_MS = 5000
const IDLE_TIMEOUT_MS = 2000
const RECORDS_MAX = 8
const STOPPED = Number.NEGATIVE_INFINITY

export class SimulatedDatabase {
  readonly kernel: Kernel
  readonly faults: Faults
  /** For a fault put in on purpose: who gets no answer to COMMIT takes it for one that failed. */
  takesSilenceForFailure = false
  readonly #options: SimulatedDatabaseOptions
  readonly #records = new Map<number, Row>()
  #end: End
  readonly #leases = new Map<string, Lease>()
  readonly #hubs = new Map<string, KnownHub>()
  readonly #sessions = new Set<Session>()
  readonly #locks: Readonly<Record<'end' | 'leases', Lock>> = {
    end: { holder: undefined, waiting: [] },
    leases: { holder: undefined, waiting: [] },
  }
  #awayUntilMs = 0
  /** What each program has in its turn, and which writes the journal has. */
  readonly #turns = new WeakMap<Program, Turn>()
  readonly #recorded = new WeakSet<object>()
  /** Those that have been one of the hubs. */
  readonly #entered = new WeakSet<Program>()

  constructor(options: SimulatedDatabaseOptions) {
    this.#options = options
    this.kernel = options.kernel
    this.faults = options.faults
    this.#end = { number: 0, hash: options.beginning, bytes: 0 }
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

  /** Whoever has the lease by the database's clock. */
  holderOf(name: string): Program | undefined {
    const lease = this.#leases.get(name)
    return lease !== undefined && lease.untilMs >= this.nowMs() ? lease.program : undefined
  }

  /** No server takes writes for so long; what was under way ends. */
  goAway(durationMs: number, why: string): void {
    this.#options.note(`the database ${why}`)
    this.#awayUntilMs = Math.max(this.#awayUntilMs, this.kernel.now().getTime() + durationMs)
    for (const session of this.#sessions) session.endWithServer()
  }

  comeBack(): void {
    this.#awayUntilMs = 0
  }

  connect(program: Program, settle: (opened: Session | Error) => void): void {
    const { kernel } = this
    kernel.after(kernel.random() * LATENCY_MS_MAX, () => {
      const isRefused = this.isAway || this.faults.happens('database connection refused')
      if (isRefused) settle(new Error('connect ECONNREFUSED'))
      else settle(this.#open(program))
    })
  }

  /** A write runs in the turn of this program. [JRN-5] None runs again of which the journal has the record. */
  noteWrite(program: Program, write: object): void {
    const isRecorded = this.#recorded.has(write)
    demand(!isRecorded, '[JRN-5] a write runs again, and the journal has its record')
    this.#turns.get(program)?.writes.add(write)
  }

  /** What it writes in this turn is of what one hub does at a time. */
  noteJob(program: Program): void {
    const turn = this.#turns.get(program)
    if (turn !== undefined) turn.isOfJobs = true
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
        this.#turns.set(session.program, { writes: new Set(), isOfJobs: false })
      }
      return rows(this.#endRow())
    }
    if (text.startsWith('SELECT fim.cofre')) return rows(...this.#recordsAfter(Number(values[0])))
    if (text === 'SELECT nome, termo FROM posse') return rows(...this.#readTerms(transaction))
    if (text.startsWith('SELECT numero, selado FROM diario')) {
      const number = Number(values[0])
      const found = this.#records.get(number)
      return rows(...(found ? [{ numero: String(number), selado: found.sealed }] : []))
    }
    if (text.startsWith('SELECT count(*)')) return rows({ hubs: this.#countRunning() })
    if (text.startsWith('SELECT hub.id')) return rows(...this.#listHubs())
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
    if (text.startsWith('INSERT INTO posse')) {
      if (!this.#lock('leases', session)) return undefined
      const taken = this.#take(session, transaction, values)
      return { command: '', rows: taken }
    }
    if (text.startsWith('UPDATE posse')) {
      if (!this.#lock('leases', session)) return undefined
      const [names, instance] = values as [readonly string[], string]
      changes.push(() => {
        for (const name of names) {
          const lease = this.#leases.get(name)
          if (lease?.instance === instance) this.#leases.set(name, { ...lease, untilMs: STOPPED })
        }
      })
      return done
    }
    if (text.startsWith('DELETE FROM posse')) {
      if (!this.#lock('leases', session)) return undefined
      changes.push(() => {
        for (const [name, { hub }] of this.#leases) if (hub === values[0]) this.#leases.delete(name)
      })
      return done
    }
    if (text.startsWith('INSERT INTO hub')) {
      const [id, sealed] = values as [string, Buffer]
      const seenMs = this.nowMs()
      const now = { number: 0, aheadMs: 0, seenMs }
      changes.push(() => this.#hubs.set(id, { ...now, ...this.#hubs.get(id), sealed }))
      return done
    }
    if (text.startsWith('UPDATE hub')) {
      const [clockMs, number, id, name, instance] = values as [
        number,
        number,
        string,
        string,
        string,
      ]
      const at = { seenMs: this.nowMs(), aheadMs: clockMs - this.kernel.now().getTime() }
      changes.push(() => {
        const hub = this.#hubs.get(id)
        const isOfIt = this.#leases.get(name)?.instance === instance
        if (hub !== undefined && isOfIt) this.#hubs.set(id, { ...hub, ...at, number })
      })
      return done
    }
    invariant(text.startsWith('DELETE FROM hub'), `the simulated database knows ${text}`)
    changes.push(() => this.#hubs.delete(String(values[0])))
    return done
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
    if (transaction.isOfRecord) this.#judgeRecord(session, transaction)
    for (const change of transaction.changes) change()
    transaction.changes.length = 0
    session.rollBack()
  }

  /** Who has what is read when the turn begins. */
  #judgeRecord({ program }: Session, { holders = new Map() }: Transaction): void {
    const { name } = program
    const { writes, isOfJobs } = this.#turns.get(program) ?? { writes: [], isOfJobs: false }
    for (const write of writes) this.#recorded.add(write)
    const isHeld = holders.get('jobs') === program
    const isOne = [...holders].some(([lease, holder]) => isStanding(lease) && holder === program)
    this.kernel.look(() => {
      demand(
        isOne || !this.#entered.has(program),
        '[HUB-5] a write of a hub that was removed:',
        name,
      )
      demand(isHeld || !isOfJobs, '[HUB-6] a write of the jobs without their lease:', name)
    })
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

  #take(session: Session, { changes }: Transaction, values: readonly unknown[]): object[] {
    const [names, seconds, hub, instance] = values as [string[], number[], string, string]
    const nowMs = this.nowMs()
    return names.flatMap((name, index) => {
      const before = this.#leases.get(name)
      const isOwn = before?.instance === instance
      if (before !== undefined && !isOwn && before.untilMs >= nowMs) return []
      const epochMs = this.kernel.now().getTime()
      const term = isOwn ? before.term : Math.max((before?.term ?? 0) + 1, epochMs)
      const untilMs = nowMs + (seconds[index] ?? 0) * 1000
      const { program } = session
      changes.push(() => {
        this.#leases.set(name, { hub, instance, term, untilMs, program })
        if (isStanding(name)) this.#entered.add(program)
      })
      return [{ nome: name, termo: String(term) }]
    })
  }

  #readTerms(transaction: Transaction | undefined): object[] {
    const leases = [...this.#leases]
    if (transaction !== undefined) {
      transaction.holders = new Map(leases.map(([name, { program }]) => [name, program]))
    }
    return leases.map(([name, { term }]) => ({ nome: name, termo: String(term) }))
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

  #countRunning(): number {
    const nowMs = this.nowMs()
    return [...this.#leases].filter(([name, { untilMs }]) => isStanding(name) && untilMs > nowMs)
      .length
  }

  #listHubs(): object[] {
    const nowMs = this.nowMs()
    const leases = [...this.#leases]
    return [...this.#hubs].map(([id, { sealed, number, aheadMs, seenMs }]) => {
      const own = leases.filter(([, { hub }]) => hub === id)
      return {
        id,
        selado: sealed,
        numero: String(number),
        desvio_ms: String(Math.round(aheadMs)),
        visto_em: this.kernel.now(),
        silencio_ms: String(Math.round(nowMs - seenMs)),
        posses: own.filter(([, { untilMs }]) => untilMs > nowMs).map(([name]) => name),
        parado: own.some(([name, { untilMs }]) => isStanding(name) && untilMs === STOPPED),
      }
    })
  }
}

function isStanding(lease: string): boolean {
  return lease.startsWith(STANDING)
}

/** One connection, at the side of the server. */
export class Session {
  readonly program: Program
  transaction: Transaction | undefined
  isCommitting = false
  isEnded = false
  /** How many statements have come. */
  asked = 0
  onEnd: () => void = () => undefined
  readonly #database: SimulatedDatabase
  readonly #forget: () => void
  readonly #sent: Asked[] = []
  readonly #waiting: Asked[] = []
  #arrivesAtMs = 0
  #isSilent = false

  constructor(database: SimulatedDatabase, program: Program, forget: () => void) {
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
