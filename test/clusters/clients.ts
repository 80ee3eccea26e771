// What all clients of several hubs share: which hubs there are, what was asked of which of them, and how an answer is to be understood.

import { systemClock } from '../../src/platform/clock.ts'
import type { Random } from '../simulation/seeded-random.ts'
import type { WireReply } from '../support/wire-client.ts'
import type { Operation, Outcome } from './operation.ts'
import type { SharedHub } from './shared-hubs.ts'

export interface Asked extends Pick<Operation, 'kind' | 'hostname' | 'key'> {
  readonly hub: number
}

export interface Answered {
  readonly outcome: Outcome
  /** Of what was acknowledged. */
  readonly answer?: string
}

export class Clients {
  readonly hubs: readonly SharedHub[]
  readonly random: Random
  readonly operations: Operation[] = []
  /** What no hub may answer, whatever happens to the database. */
  readonly surprises: string[] = []
  readonly #stopping = new AbortController()
  readonly #beganMs = performance.now()
  #serial = 0

  constructor(hubs: readonly SharedHub[], random: Random) {
    this.hubs = hubs
    this.random = random
  }

  get isOver(): boolean {
    return this.#stopping.signal.aborted
  }

  /** No client begins anything new. */
  stop(): void {
    this.#stopping.abort()
  }

  nowMs(): number {
    return performance.now() - this.#beganMs
  }

  /** Another one each time, in the whole run. */
  nextNumber(): number {
    this.#serial += 1
    return this.#serial
  }

  pickHub(): number {
    return Math.floor(this.random() * this.hubs.length)
  }

  hubAt(index: number): SharedHub {
    const hub = this.hubs[index]
    if (hub === undefined) throw new Error(`there is no hub ${index}`)
    return hub
  }

  /** Half to one and a half of that long, or until the clients stop. */
  async pause(meanMs: number): Promise<void> {
    const ms = meanMs * (0.5 + this.random())
    await systemClock.sleep(ms, this.#stopping.signal).catch(() => undefined)
  }

  /** Whether an event was sent since, and acknowledged. */
  hasWrittenSince(ms: number): boolean {
    return this.operations.some(
      ({ kind, outcome, startMs }) =>
        kind === 'event' && outcome === 'acknowledged' && startMs > ms,
    )
  }

  /** One request and its answer; no answer is an outcome that nobody knows. */
  async ask(asked: Asked, request: () => Promise<Answered>): Promise<Answered> {
    const startMs = this.nowMs()
    let answered: Answered
    try {
      answered = await request()
    } catch {
      answered = { outcome: 'unknown' }
    }
    this.operations.push({ ...asked, ...answered, startMs, endMs: this.nowMs() })
    return answered
  }

  /** A client that was told what to do cannot be told that it did something wrong. */
  judge(what: string, reply: WireReply): Outcome {
    const { status } = reply
    if (status === 200) return 'acknowledged'
    // 502: the CA was asked for a certificate whose enrolment then found no database.
    if (status === 503 || status === 502) return 'unknown'
    if (status !== 401 && status !== 403 && status !== 409) {
      this.surprises.push(`${what}: ${status} ${reply.text}`)
    }
    return 'refused'
  }
}
