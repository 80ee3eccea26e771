// The one place where anything happens: programs wait here for every step that reaches outside of them (a file, the
// clock, a commit, a signature), and the seed decides whose step is next. Time passes only when nobody has one. As no
// other order comes from anywhere, a seed gives the same history again; as nothing reaches the outside between two
// steps, a program that is killed between any two of them was killed at any of its moments.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Random } from '../seeded-random.ts'

interface Step {
  run(this: void): void | Promise<void>
}

interface Timer {
  readonly atMs: number
  readonly number: number
  readonly program: Program | undefined
  fire(this: void): void
}

const HOUR_MS = 3_600_000
const current = new AsyncLocalStorage<Program>()
/** The chance of work beside all programs. */
const besides = new AsyncLocalStorage<Random>()
/** Taken before anything stands in for it. */
const realSetImmediate = globalThis.setImmediate

/** The program whose code runs now; undefined outside of all simulations. */
export function currentProgram(): Program | undefined {
  return current.getStore()
}

/** Seeded, in a program and beside it; undefined outside of all simulations. */
export function currentRandom(): Random | undefined {
  return current.getStore()?.kernel.random ?? besides.getStore()
}

/** With real files and threads, while time stands still: for a step that waits for all of it. */
export function runBeside<Value>(random: Random, work: () => Value): Value {
  return current.exit(() => besides.run(random, work))
}

export class Kernel implements Clock {
  readonly random: Random
  steps = 0
  #nowMs: number
  #timerCount = 0
  #failure: Error | undefined
  readonly #timers = new Set<Timer>()
  readonly #programs = new Set<Program>()

  constructor(start: Date, random: Random) {
    this.#nowMs = start.getTime()
    this.random = random
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  createProgram(name: string, options: { readonly clockSkewMs?: () => number } = {}): Program {
    const program = new Program(this, name, options.clockSkewMs ?? (() => 0))
    this.#programs.add(program)
    return program
  }

  forget(program: Program): void {
    this.#programs.delete(program)
    for (const timer of this.#timers) if (timer.program === program) this.#timers.delete(timer)
  }

  /** Of nobody's program: the network, the operator, the plan of what goes wrong. */
  after(delayMs: number, fire: () => void): void {
    this.addTimer(delayMs, undefined, fire)
  }

  sleep(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.after(durationMs, resolve))
  }

  addTimer(delayMs: number, program: Program | undefined, fire: () => void): () => void {
    this.#timerCount += 1
    const atMs = this.#nowMs + Math.max(0, delayMs)
    const timer: Timer = { atMs, number: this.#timerCount, program, fire }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** What went wrong ends the history. */
  fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error))
  }

  /** Looks at something whose failure ends the history, and not whoever passes by. */
  look(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Something that nobody waits for; its failure ends the history. */
  background(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => this.fail(error))
  }

  /** Until that instant, or until it is so. */
  async runUntil(end: Date, isDone: () => boolean = () => false): Promise<void> {
    for (;;) {
      await turn()
      if (this.#failure !== undefined) throw this.#failure
      if (isDone()) return
      const ready = [...this.#programs].filter(({ isReady }) => isReady)
      const program = pick(ready, this.random)
      if (program !== undefined) {
        this.steps += 1
        await program.takeStep()
        continue
      }
      const timer = this.#nextTimer()
      if (timer === undefined || timer.atMs > end.getTime()) break
      this.#timers.delete(timer)
      this.#nowMs = timer.atMs
      timer.fire()
    }
    this.#nowMs = Math.max(this.#nowMs, end.getTime())
  }

  #nextTimer(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (next === undefined || timer.atMs < next.atMs) next = timer
      else if (timer.atMs === next.atMs && timer.number < next.number) next = timer
    }
    return next
  }
}

/** One run of a program, from its start to its end; dead, it never gets a turn again. */
export class Program {
  readonly kernel: Kernel
  readonly name: string
  readonly clock: Clock
  /** Set by whoever runs it; undefined leaves it without a disk. */
  disk: object | undefined
  /** The same of the database that its settings name. */
  database: object | undefined
  /** Which files it has for real in spite of that: a database reads and writes them by itself. */
  isReal: (path: string) => boolean = () => false
  /** Told of each sync of a real file. */
  onRealSync: (() => void) | undefined
  isAlive = true
  /** It gets no turn while time goes on, and does not know that afterwards. */
  isFrozen = false
  /** When it went on last. */
  thawedAtMs = Number.NEGATIVE_INFINITY
  stepsTaken = 0
  readonly #steps: Step[] = []
  readonly #immediates: Step[] = []
  readonly #onDeath: (() => void)[] = []
  #overMs = 0
  #stepsToLive = Number.POSITIVE_INFINITY
  #onDoom: (() => void | Promise<void>) | undefined

  constructor(kernel: Kernel, name: string, clockSkewMs: () => number) {
    this.kernel = kernel
    this.name = name
    this.clock = {
      now: () => new Date(kernel.now().getTime() + clockSkewMs()),
      sleep: (durationMs, signal) => this.#sleep(durationMs, signal),
    }
  }

  get isReady(): boolean {
    return this.isAlive && !this.isFrozen && this.#steps.length > 0
  }

  /** Milliseconds that never jump. What is left of a program that was killed has no patience: it has to close its database. */
  readStopwatch(): number {
    if (!this.isAlive) this.#overMs += HOUR_MS
    return this.kernel.now().getTime() + this.#overMs
  }

  /** Runs code as this program. */
  run<Value>(work: () => Value): Value {
    return current.run(this, work)
  }

  /** The next turn of this program does that. */
  post(run: () => void): void {
    if (this.isAlive) this.#steps.push({ run })
  }

  /** A step that reaches the outside, and its result. */
  step<Value>(action: () => Value | Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const run = async (): Promise<void> => {
        try {
          resolve(await action())
        } catch (error) {
          reject(error)
        }
      }
      if (this.isAlive) this.#steps.push({ run })
    })
  }

  /** As setImmediate; the answer takes it back. */
  immediate(run: () => void): () => void {
    const step: Step = { run: () => this.run(run) }
    this.#immediates.push(step)
    // A dead program's commits are let through once, for the sake of closing its database: see drain.
    if (this.isAlive) this.#steps.push(step)
    return () => {
      for (const queue of [this.#steps, this.#immediates]) {
        const index = queue.indexOf(step)
        if (index >= 0) queue.splice(index, 1)
      }
    }
  }

  async takeStep(): Promise<void> {
    if (this.stepsTaken >= this.#stepsToLive) {
      await this.#onDoom?.()
      return
    }
    this.stepsTaken += 1
    const step = this.#steps.shift()
    if (step === undefined) return
    this.#forgetImmediate(step)
    await step.run()
  }

  /** It gets that many more steps, and is then told to whoever kills it. */
  doom(steps: number, onDoom: () => void | Promise<void>): void {
    this.#stepsToLive = this.stepsTaken + steps
    this.#onDoom = onDoom
  }

  onDeath(tell: () => void): void {
    this.#onDeath.push(tell)
  }

  kill(): void {
    if (!this.isAlive) return
    this.isAlive = false
    this.#steps.length = 0
    this.kernel.forget(this)
    for (const tell of this.#onDeath) tell()
  }

  /** What a dead program had begun to commit comes to its end, where nobody sees it any more. */
  async drain(): Promise<void> {
    await turn()
    for (let step = this.#immediates.shift(); step !== undefined; step = this.#immediates.shift()) {
      await step.run()
      await turn()
    }
  }

  #forgetImmediate(step: Step): void {
    const index = this.#immediates.indexOf(step)
    if (index >= 0) this.#immediates.splice(index, 1)
  }

  #sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error)
        return
      }
      if (!this.isAlive) return
      const onAbort = (): void => {
        cancel()
        reject(signal?.reason as Error)
      }
      const cancel = this.kernel.addTimer(durationMs, this, () => {
        signal?.removeEventListener('abort', onAbort)
        this.post(resolve)
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }
}

/** One of them, by chance; undefined when there is none. */
export function pick<Value>(values: readonly Value[], random: Random): Value | undefined {
  return values[Math.floor(random() * values.length)]
}

/** When it resolves, whatever could run without a step has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    realSetImmediate(resolve)
  })
}
