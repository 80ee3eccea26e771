// Who runs, and who has what, in memory, for the hubs of one process. It may be away, or hear one of them no more.

import { StoreError } from '../../src/hub/store/store-error.ts'
import type {
  Beat,
  HubInstance,
  HubRegistry,
  RegisteredHub,
  TakenBeat,
} from '../../src/hub/store/hub-registry.ts'
import { standingName } from '../../src/hub/store/hub-registry.ts'
import type { MemoryJournal } from './memory-journal.ts'

interface Lease extends HubInstance {
  untilMs: number
}

export class FakeHubRegistry {
  isAway = false
  readonly #nowMs: () => number
  readonly #journal: MemoryJournal
  readonly #leases = new Map<string, Lease>()
  readonly #hubs = new Map<string, Buffer>()
  readonly #silent = new Set<string>()

  constructor(nowMs: () => number, journal: MemoryJournal) {
    this.#nowMs = nowMs
    this.#journal = journal
  }

  /** What each hub has as its own. */
  forInstance(): HubRegistry {
    return {
      enter: async ({ hubId }, sealed) => void this.#hubs.set(hubId, sealed),
      beat: async (beat) => this.#beat(beat),
      release: async ({ instanceId }, names) => {
        for (const name of names) {
          const lease = this.#leases.get(name)
          if (lease?.instanceId === instanceId) lease.untilMs = 0
        }
      },
      list: async () => ({ hubs: [...this.#hubs].map(([id, sealed]) => row(id, sealed)), end: 0 }),
      remove: (id) => this.remove(id),
      close: async () => undefined,
    }
  }

  async remove(id: string): Promise<void> {
    this.#hubs.delete(id)
    for (const [name, { hubId }] of this.#leases) {
      if (hubId !== id) continue
      this.#leases.delete(name)
      this.#journal.terms.delete(name)
    }
    this.#silent.add(id)
  }

  /** Its beats do not arrive. */
  silence(hubId: string): void {
    this.#silent.add(hubId)
  }

  expire(name: string): void {
    const lease = this.#leases.get(name)
    if (lease !== undefined) lease.untilMs = 0
  }

  #beat({ hubId, instanceId, wishes }: Beat): TakenBeat {
    const isRemoved = this.#silent.has(hubId) && !this.#hubs.has(hubId)
    if (this.isAway || (this.#silent.has(hubId) && !isRemoved)) {
      throw new StoreError('store_unavailable', 'the database is away')
    }
    if (isRemoved) return { leases: [], running: this.#countRunning() }
    const taken = wishes.filter(({ name, seconds }) => {
      const lease = this.#leases.get(name)
      const isFree = lease === undefined || lease.untilMs < this.#nowMs()
      if (lease?.instanceId !== instanceId && !isFree) return false
      if (lease?.instanceId !== instanceId) {
        this.#journal.terms.set(name, (this.#journal.terms.get(name) ?? 0) + 1)
      }
      this.#leases.set(name, { hubId, instanceId, untilMs: this.#nowMs() + seconds * 1000 })
      return true
    })
    const leases = taken.map(({ name }) => ({
      name,
      term: this.#journal.terms.get(name) ?? 0,
    }))
    return { leases, running: this.#countRunning() }
  }

  #countRunning(): number {
    const nowMs = this.#nowMs()
    return [...this.#leases].filter(
      ([name, { hubId, untilMs }]) => name === standingName(hubId) && untilMs >= nowMs,
    ).length
  }
}

function row(id: string, sealed: Buffer): RegisteredHub {
  return {
    id,
    sealed,
    position: 0,
    clockAheadMs: 0,
    lastBeatAt: new Date(0),
    silentMs: 0,
    leases: [standingName(id)],
    state: 'running',
  }
}
