// The tables in which hubs know of each other, `hub` and `posse`, as a simulated PostgreSQL has them.

import { STANDING } from '../../../src/hub/store/hub-registry.ts'
import { invariant } from '../../../src/platform/errors.ts'
import type { Kernel, Program } from './kernel.ts'

export interface HubTablesOptions {
  readonly kernel: Kernel
  /** By the database's clock. */
  readonly nowMs: () => number
  /** A program is one of the hubs. */
  readonly onEntered: (program: Program) => void
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

/** What the COMMIT of a transaction does. */
type Changes = (() => void)[]

const STOPPED = Number.NEGATIVE_INFINITY

export class HubTables {
  readonly #options: HubTablesOptions
  readonly #leases = new Map<string, Lease>()
  readonly #hubs = new Map<string, KnownHub>()

  constructor(options: HubTablesOptions) {
    this.#options = options
  }

  /** Whoever has the lease by the database's clock. */
  holderOf(name: string): Program | undefined {
    const lease = this.#leases.get(name)
    return lease !== undefined && lease.untilMs >= this.#options.nowMs() ? lease.program : undefined
  }

  /** Of each lease, whoever took it last. */
  holders(): ReadonlyMap<string, Program> {
    return new Map([...this.#leases].map(([name, { program }]) => [name, program]))
  }

  listTerms(): object[] {
    return [...this.#leases].map(([name, { term }]) => ({ nome: name, termo: String(term) }))
  }

  countRunning(): number {
    const nowMs = this.#options.nowMs()
    return [...this.#leases].filter(([name, { untilMs }]) => isStanding(name) && untilMs > nowMs)
      .length
  }

  listHubs(): object[] {
    const { kernel } = this.#options
    const nowMs = this.#options.nowMs()
    const leases = [...this.#leases]
    return [...this.#hubs].map(([id, { sealed, number, aheadMs, seenMs }]) => {
      const own = leases.filter(([, { hub }]) => hub === id)
      return {
        id,
        selado: sealed,
        numero: String(number),
        desvio_ms: String(Math.round(aheadMs)),
        visto_em: kernel.now(),
        silencio_ms: String(Math.round(nowMs - seenMs)),
        posses: own.filter(([, { untilMs }]) => untilMs > nowMs).map(([name]) => name),
        parado: own.some(([name, { untilMs }]) => isStanding(name) && untilMs === STOPPED),
      }
    })
  }

  /** A statement that changes them, once its transaction is committed; answers rows. */
  change(text: string, values: readonly unknown[], program: Program, changes: Changes): object[] {
    if (text.startsWith('INSERT INTO posse')) return this.#take(values, program, changes)
    if (text.startsWith('UPDATE posse')) {
      const [names, instance] = values as [readonly string[], string]
      changes.push(() => {
        for (const name of names) {
          const lease = this.#leases.get(name)
          if (lease?.instance === instance) this.#leases.set(name, { ...lease, untilMs: STOPPED })
        }
      })
      return []
    }
    if (text.startsWith('DELETE FROM posse')) {
      changes.push(() => {
        for (const [name, { hub }] of this.#leases) if (hub === values[0]) this.#leases.delete(name)
      })
      return []
    }
    if (text.startsWith('INSERT INTO hub')) {
      const [id, sealed] = values as [string, Buffer]
      const seenMs = this.#options.nowMs()
      const now = { number: 0, aheadMs: 0, seenMs }
      changes.push(() => this.#hubs.set(id, { ...now, ...this.#hubs.get(id), sealed }))
      return []
    }
    if (text.startsWith('UPDATE hub')) {
      this.#noteBeat(values as [number, number, string, string, string], changes)
      return []
    }
    invariant(text.startsWith('DELETE FROM hub'), `the simulated database knows ${text}`)
    changes.push(() => this.#hubs.delete(String(values[0])))
    return []
  }

  #noteBeat(
    [clockMs, number, id, name, instance]: readonly [number, number, string, string, string],
    changes: Changes,
  ): void {
    const { kernel, nowMs } = this.#options
    const at = { seenMs: nowMs(), aheadMs: clockMs - kernel.now().getTime() }
    changes.push(() => {
      const hub = this.#hubs.get(id)
      const isOfIt = this.#leases.get(name)?.instance === instance
      if (hub !== undefined && isOfIt) this.#hubs.set(id, { ...hub, ...at, number })
    })
  }

  #take(values: readonly unknown[], program: Program, changes: Changes): object[] {
    const [names, seconds, hub, instance] = values as [string[], number[], string, string]
    const { kernel, onEntered } = this.#options
    const nowMs = this.#options.nowMs()
    return names.flatMap((name, index) => {
      const before = this.#leases.get(name)
      const isOwn = before?.instance === instance
      if (before !== undefined && !isOwn && before.untilMs >= nowMs) return []
      const epochMs = kernel.now().getTime()
      const term = isOwn ? before.term : Math.max((before?.term ?? 0) + 1, epochMs)
      const untilMs = nowMs + (seconds[index] ?? 0) * 1000
      changes.push(() => {
        this.#leases.set(name, { hub, instance, term, untilMs, program })
        if (isStanding(name)) onEntered(program)
      })
      return [{ nome: name, termo: String(term) }]
    })
  }
}

/** That of one hub, for as long as it is one of the hubs. */
export function isStanding(lease: string): boolean {
  return lease.startsWith(STANDING)
}
