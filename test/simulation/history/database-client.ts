// In the place of a client of PostgreSQL's library, for a program of a simulation: the simulated database at its other end.

import type { Answer, Session } from './database-session.ts'
import type { SimulatedDatabase } from './simulated-database.ts'
import type { Program } from './kernel.ts'

interface Question {
  readonly text: string
  readonly values: readonly unknown[]
  readonly query_timeout: number
}

const CONNECT_TIMEOUT_MS = 1500

export class DatabaseClient {
  readonly connection = { stream: { destroy: (): void => this.#session?.end() } }
  readonly #program: Program
  readonly #database: SimulatedDatabase
  readonly #listeners = new Map<string, (() => void)[]>()
  readonly #pending = new Set<(error: Error) => void>()
  #session: Session | undefined

  constructor(program: Program, database: SimulatedDatabase) {
    this.#program = program
    this.#database = database
    program.onDeath(() => {
      for (const fail of this.#pending) fail(dead())
    })
  }

  on(event: string, listener: () => void): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener])
    return this
  }

  connect(): Promise<void> {
    return this.#within(CONNECT_TIMEOUT_MS, 'timeout expired', (settle) =>
      this.#database.connect(this.#program, (opened) => {
        if (opened instanceof Error) return settle(opened)
        this.#session = opened
        opened.onEnd = () => this.#program.post(() => this.#noteEnd())
        settle(undefined)
      }),
    )
  }

  query({ text, values, query_timeout }: Question): Promise<Answer> {
    const session = this.#session
    if (session === undefined || session.isEnded) {
      return Promise.reject(new Error('Client has encountered a connection error'))
    }
    const answered = this.#within<Answer>(query_timeout, 'Query read timeout', (settle) =>
      session.ask({ text, values, settle }),
    )
    if (text !== 'COMMIT' || !this.#database.takesSilenceForFailure) return answered
    return answered.catch(() => ({ command: 'ROLLBACK', rows: [] }))
  }

  async end(): Promise<void> {
    this.#session?.end()
  }

  #noteEnd(): void {
    for (const fail of this.#pending) fail(new Error('Connection terminated unexpectedly'))
    for (const listener of this.#listeners.get('end') ?? []) listener()
  }

  #within<Value>(
    timeoutMs: number,
    late: string,
    start: (settle: (value: Value | Error) => void) => void,
  ): Promise<Value> {
    const program = this.#program
    if (!program.isAlive) return Promise.reject(dead())
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        stopWaiting()
        this.#pending.delete(fail)
        reject(error)
      }
      const stopWaiting = program.kernel.addTimer(timeoutMs, program, () =>
        program.post(() => fail(new Error(late))),
      )
      this.#pending.add(fail)
      start((value) =>
        program.post(() => {
          if (value instanceof Error) return fail(value)
          stopWaiting()
          this.#pending.delete(fail)
          resolve(value)
        }),
      )
    })
  }
}

function dead(): Error {
  return new Error('nobody is there any more')
}
