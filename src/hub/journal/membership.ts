// A hub as one of several. It says that it runs by a beat each second. Without one for five seconds it answers nobody: the database that it
// reads may be one that the others have left. What one hub does at a time it does while its beats keep the lease. docs/protocol.md HUB.

import { once } from 'node:events'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { HubInstance, HubRegistry, LeaseWish } from '../store/hub-registry.ts'
import { standingName } from '../store/hub-registry.ts'
import type { LeaseTerm } from '../store/journal.ts'
import type { LeaseName, Leases } from '../store/leases.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'

export interface MembershipOptions {
  readonly instance: HubInstance
  readonly registry: HubRegistry
  /** What the hub says of itself, sealed. */
  readonly sealed: Buffer
  /** Of another process that has the place of this one; in words. */
  readonly describe: (sealed: Buffer) => string
  readonly store: Store
  /** Resolves when everything is here that the journal had. */
  readonly follow: () => Promise<void>
  /** Of the last record that is here. */
  readonly position: () => number
  /** After a beat: what reads the journal from another server than the one that took it reads it from that one. */
  readonly keepTogether: () => void
  readonly clock: Clock
  readonly log: Logger
  /** Milliseconds that never jump. */
  readonly monotonicMs?: (() => number) | undefined
}

interface HeldLease extends LeaseTerm {
  readonly untilMs: number
  readonly lost: AbortController
}

const BEAT_MS = 1000
const FENCE_MS = 5000
const FOLLOW_MS = 250
/** A hub that was killed is not waited for any longer when it starts again. */
const STANDING_SECONDS = 5
const LEASE_SECONDS = 10
/** A hub stops before others may begin, however its clock runs. */
const LEASE_MARGIN_MS = 2000
const ENTER_MS_MAX = 8000
const LEASE_WAIT_MS = 10_000

export class Membership implements Leases {
  readonly #options: MembershipOptions
  readonly #monotonicMs: () => number
  readonly #standing: string
  readonly #wanted = new Map<LeaseName, number>()
  readonly #held = new Map<string, HeldLease>()
  readonly #ended: Promise<StoreError>
  #noteEnded!: (error: StoreError) => void
  #beatAtMs = Number.NEGATIVE_INFINITY
  #running = 1
  #followedAtMs = Number.NEGATIVE_INFINITY
  #beating: Promise<void> | undefined
  #isSilent = false
  /** Who waits for what the journal has. */
  readonly #waiting = new Set<(error: unknown) => void>()

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now())
    this.#standing = standingName(options.instance.hubId)
    this.#ended = new Promise((resolve) => {
      this.#noteEnded = resolve
    })
  }

  /** What this process has to have for each write; undefined before it entered. */
  get standing(): LeaseTerm | undefined {
    return this.#held.get(this.#standing)
  }

  /** When it looked last at what others did, and had all of it. */
  get followedAtMs(): number {
    return this.#followedAtMs
  }

  /** How many hubs ran at the last beat that was taken, with this one. */
  get running(): number {
    return this.#running
  }

  /** Resolves when somebody removed this hub, another process has its place, or the vault is one of a newer program. */
  get ended(): Promise<StoreError> {
    return this.#ended
  }

  /** Throws StoreError `hub_twice` while another process of the same hub runs; waits for one that was killed. */
  async enter(signal: AbortSignal): Promise<void> {
    const { instance, registry, sealed, clock, describe } = this.#options
    const startMs = this.#monotonicMs()
    // A hub that is alone signs the log from its first moment on.
    this.#wish('jobs')
    for (;;) {
      signal.throwIfAborted()
      await this.#beat()
      if (this.standing !== undefined) break
      if (this.#monotonicMs() - startMs > ENTER_MS_MAX) {
        const twin = (await registry.list()).hubs.find(({ id }) => id === instance.hubId)
        const host = twin === undefined ? 'another machine' : describe(twin.sealed)
        throw new StoreError('hub_twice', `hub ${instance.hubId} is running already at ${host}`, {
          hint: 'each hub has a vault of its own: svc join makes one; a copied vault needs its hub.id removed',
        })
      }
      await clock.sleep(BEAT_MS / 4, signal)
    }
    await registry.enter(instance, sealed)
    // With what this hub has, from the first list on.
    await this.#beat()
  }

  /** Throws StoreError `store_unavailable` when the database has not heard this hub for five seconds. */
  requireHeard(): void {
    if (!this.#isHeard()) throw notHeard()
  }

  /** Resolves when everything is here that was written before, by any hub. Throws StoreError `store_unavailable`. */
  async catchUp(): Promise<void> {
    this.requireHeard()
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add(reject)
      const end = (): void => void this.#waiting.delete(reject)
      this.#options.follow().then(resolve, reject).finally(end)
    })
    // What was read may be of a database that nobody writes to any more.
    this.requireHeard()
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#keepBeating(signal),
      this.#keepWatch(signal),
      this.#keepFollowing(signal),
    ])
  }

  /** After everything that writes has ended. */
  async leave(): Promise<void> {
    const { registry, instance } = this.#options
    await this.#beating?.catch(() => undefined)
    await registry.release(instance, [...this.#held.keys()]).catch(() => undefined)
    this.#held.clear()
  }

  has(name: LeaseName): boolean {
    return this.#held.has(name)
  }

  storeFor(name: LeaseName): Store {
    const { store } = this.#options
    return {
      reader: store.reader,
      get version() {
        return store.version
      },
      versionOf: (id) => store.versionOf(id),
      write: (work, company) => {
        const lease = this.#held.get(name)
        if (lease === undefined) return Promise.reject(withoutLease(name))
        const { term } = lease
        return store.write(work, { isExpected: () => false, ...company, lease: { name, term } })
      },
      close: () => store.close(),
    }
  }

  async whileHeld(
    name: LeaseName,
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    using _wish = this.#wish(name)
    while (!signal.aborted) {
      const lease = this.#held.get(name)
      if (lease === undefined) {
        await this.#options.clock.sleep(FOLLOW_MS, signal).catch(() => undefined)
        continue
      }
      const held = AbortSignal.any([signal, lease.lost.signal])
      await work(held)
      // What is done is done again by who has the lease next.
      if (!held.aborted) await once(held, 'abort')
    }
  }

  async during<T>(name: LeaseName, work: () => Promise<T>): Promise<T> {
    const startMs = this.#monotonicMs()
    const wish = this.#wish(name)
    try {
      while (!this.#held.has(name)) {
        await this.#beat()
        if (this.#held.has(name)) break
        if (this.#monotonicMs() - startMs > LEASE_WAIT_MS) throw withoutLease(name)
        await this.#options.clock.sleep(FOLLOW_MS)
      }
      return await work()
    } finally {
      wish[Symbol.dispose]()
      if (!this.#wanted.has(name)) await this.#release(name)
    }
  }

  #wish(name: LeaseName): Disposable {
    this.#wanted.set(name, (this.#wanted.get(name) ?? 0) + 1)
    return {
      [Symbol.dispose]: () => {
        const left = (this.#wanted.get(name) ?? 0) - 1
        if (left > 0) this.#wanted.set(name, left)
        else this.#wanted.delete(name)
      },
    }
  }

  async #release(name: LeaseName): Promise<void> {
    if (!this.#drop(name)) return
    const { registry, instance } = this.#options
    // One that is not released ends by itself.
    await registry.release(instance, [name]).catch(() => undefined)
  }

  #isHeard(): boolean {
    return this.#monotonicMs() - this.#beatAtMs <= FENCE_MS
  }

  /** One after the other. */
  async #beat(): Promise<void> {
    await this.#beating?.catch(() => undefined)
    this.#beating = this.#beatOnce()
    await this.#beating
  }

  async #beatOnce(): Promise<void> {
    const { registry, instance, clock, position } = this.#options
    const wishes: LeaseWish[] = [
      { name: this.#standing, seconds: STANDING_SECONDS },
      ...[...this.#wanted.keys()].map((name) => ({ name, seconds: LEASE_SECONDS })),
    ]
    const sentMs = this.#monotonicMs()
    const beat = { ...instance, now: clock.now(), position: position(), wishes }
    const { leases, running } = await registry.beat(beat)
    this.#running = Math.max(1, running)
    const terms = new Map(leases.map(({ name, term }) => [name, term]))
    for (const { name, seconds } of wishes) {
      const untilMs = sentMs + seconds * 1000 - LEASE_MARGIN_MS
      this.#noteLease(name, terms.get(name), untilMs)
    }
    if (this.standing !== undefined) this.#beatAtMs = sentMs
    this.#options.keepTogether()
  }

  #noteLease(name: string, term: number | undefined, untilMs: number): void {
    const before = this.#held.get(name)
    if (before !== undefined && before.term === term) {
      this.#held.set(name, { ...before, untilMs })
      return
    }
    const isOfThis = name === this.#standing
    if (before !== undefined && isOfThis) {
      const hint = 'svc hubs list shows who shares the vault'
      this.#noteEnded(
        new StoreError('hub_removed', 'this hub was removed, or another process has its place', {
          hint,
        }),
      )
      // It stays what it was: the writes of this process are refused by it.
      return
    }
    this.#lose(name)
    if (term === undefined || (!isOfThis && !this.#wanted.has(name as LeaseName))) return
    this.#held.set(name, { name, term, untilMs, lost: new AbortController() })
    if (!isOfThis) this.#options.log.info({ lease: name, term }, 'Lease taken')
  }

  #lose(name: string): void {
    if (this.#drop(name)) this.#options.log.warn({ lease: name }, 'Lease lost')
  }

  #drop(name: string): boolean {
    this.#held.get(name)?.lost.abort()
    return this.#held.delete(name)
  }

  #loseExpired(): void {
    const nowMs = this.#monotonicMs()
    for (const { name, untilMs } of this.#held.values()) {
      if (untilMs <= nowMs && name !== this.#standing) this.#lose(name)
    }
  }

  async #keepBeating(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (!signal.aborted) {
      try {
        await this.#beat()
        if (this.#isSilent) log.info({}, 'The database hears this hub again')
        this.#isSilent = false
      } catch (error) {
        if (!this.#isSilent) {
          const fields = { reason: describeError(error) }
          log.warn(
            fields,
            'The database does not hear this hub: without a beat in 5 s it answers nobody',
          )
        }
        this.#isSilent = true
      }
      await clock.sleep(BEAT_MS, signal).catch(() => undefined)
    }
  }

  /** A beat may wait for longer than a lease lasts, and a look at the journal for longer than anybody should. */
  async #keepWatch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await clock.sleep(FOLLOW_MS, signal).catch(() => undefined)
      this.#loseExpired()
      if (this.#isHeard()) continue
      for (const reject of this.#waiting) reject(notHeard())
      this.#waiting.clear()
    }
  }

  /** Others' revocations count here though nobody asks. */
  async #keepFollowing(signal: AbortSignal): Promise<void> {
    const { clock, follow } = this.#options
    while (!signal.aborted) {
      try {
        await follow()
        this.#followedAtMs = this.#monotonicMs()
      } catch (error) {
        // What fails here fails every request too, and says so there.
        if (error instanceof StoreError && error.code === 'store_newer') this.#noteEnded(error)
      }
      await clock.sleep(FOLLOW_MS, signal).catch(() => undefined)
    }
  }
}

function notHeard(): StoreError {
  return new StoreError(
    'store_unavailable',
    `the database has not taken a beat of this hub for ${FENCE_MS / 1000} s`,
  )
}

function withoutLease(name: LeaseName): StoreError {
  return new StoreError('lease_lost', LEASE_WORDS[name])
}

const LEASE_WORDS: Readonly<Record<LeaseName, string>> = {
  jobs: 'another hub does the jobs',
  changes: 'another hub changes many entregas: try again when it is done',
}
