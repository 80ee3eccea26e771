// One rollout of a fleet in memory, by the decision that a hub makes, with all that befalls hubs and hosts: thousands of these take seconds.
// Hub, store and agents of flesh and blood are in history/; here only what is next for a rollout is on trial. docs/protocol.md RLO-7.

import { advanceTimes, type RolloutWatch } from '../../src/hub/domain/rollout-watch.ts'
import { decideRollout, type RolloutVerdict } from '../../src/hub/domain/decide-rollout.ts'
import type { Freeze } from '../../src/hub/domain/freeze.ts'
import {
  isLastWave,
  newRollout,
  type Rollout,
  type RolloutCounts,
} from '../../src/hub/domain/rollout.ts'
import { placeOf, thresholdOf } from '../../src/hub/domain/rollout-order.ts'
import type { AgentId, CargoId, RolloutId } from '../../src/protocol/identifiers.ts'
import { failuresAllowed, hostsOfWave, type Share } from '../../src/protocol/rollout-share.ts'
import { createSeededRandom, type Random } from './seeded-random.ts'

export interface RolloutHistory {
  readonly seed: number
  readonly end: Rollout['state']
  readonly waves: number
  readonly freezes: number
  readonly restarts: number
  readonly clockJumps: number
}

export type Decide = typeof decideRollout

interface Host {
  readonly id: AgentId
  state: 'old' | 'pending' | 'unprobed' | 'done' | 'failed' | 'declined' | 'gone'
  /** It follows no announced updates. */
  readonly declines: boolean
  heardMs: number
  isDark: boolean
}

const START_MS = Date.parse('2030-01-01T00:00:00Z')
const LOOK_MS = 2000
/** What a jump of the clock may add to one look. */
const STEP_MS_MAX = 2 * LOOK_MS
const TICKS_MAX = 1500

/** Throws when a wave opens early. `decide` is the one on trial. */
export function runRolloutHistory(seed: number, decide: Decide = decideRollout): RolloutHistory {
  return new RolloutWorld(seed, decide).live()
}

class RolloutWorld {
  readonly #seed: number
  /** Of the agent: hosts have no targets, and some decline it. */
  readonly #isUpdate: boolean
  readonly #decide: Decide
  readonly #random: Random
  readonly #hosts: Host[]
  #rollout: Rollout
  #watch: RolloutWatch | undefined
  #freeze: Freeze | undefined
  #trueMs = START_MS
  #skewMs = 0
  #givenMs = START_MS
  #jumpedMs = 0
  /** True time since which the wave has been as it has to be. */
  #wellMs = START_MS
  #waves = 0
  #freezes = 0
  #restarts = 0
  #clockJumps = 0

  constructor(seed: number, decide: Decide) {
    this.#seed = seed
    this.#isUpdate = seed % 3 === 0
    this.#decide = decide
    this.#random = createSeededRandom(seed)
    const count = 1 + Math.floor(this.#random() * 16)
    this.#hosts = Array.from({ length: count }, (_, at) => this.#newHost(`host-${at}`))
    this.#rollout = this.#begin()
  }

  live(): RolloutHistory {
    for (let tick = 0; tick < TICKS_MAX && this.#rollout.endedAt === null; tick += 1) {
      this.#trueMs += LOOK_MS
      this.#befall()
      this.#look()
    }
    return {
      seed: this.#seed,
      end: this.#rollout.state,
      waves: this.#waves,
      freezes: this.#freezes,
      restarts: this.#restarts,
      clockJumps: this.#clockJumps,
    }
  }

  #begin(): Rollout {
    const percent = (tenths: number): Share => ({ of: 'percent', tenths })
    const hosts = (count: number): Share => ({ of: 'hosts', count })
    const waves = this.#pick([
      [hosts(1), percent(100), percent(500), percent(1000)],
      [hosts(1), hosts(3), percent(1000)],
      [percent(200), percent(1000)],
      [percent(1000)],
    ])
    return newRollout({
      id: `rollout-${this.#seed}` as RolloutId,
      subject: this.#isUpdate
        ? { kind: 'update', version: '0.5.0', where: null }
        : { kind: 'load', cargoId: 'c' as CargoId, version: 2, sans: [] },
      waves,
      soakMs: this.#pick([0, 10_000, 60_000, 300_000]),
      lateMs: this.#pick([60_000, 300_000]),
      maxFailed: this.#pick([hosts(0), hosts(2), percent(20), percent(250)]),
      startedBy: 'admin',
      createdAt: this.#now(),
    })
  }

  /** What happens between two looks. */
  #befall(): void {
    const happens = (likelihood: number): boolean => this.#random() < likelihood
    if (happens(0.01)) {
      this.#clockJumps += 1
      this.#jumpedMs += STEP_MS_MAX
      this.#skewMs += (this.#random() - 0.5) * 20 * 86_400_000
    }
    if (happens(0.01)) {
      // Killed, or another hub has the jobs from now on; it may take its time.
      this.#restarts += 1
      this.#watch = undefined
      if (happens(0.3)) this.#trueMs += this.#random() * 600_000
    }
    if (happens(0.004)) this.#hosts.push(this.#newHost(`late-${this.#trueMs}`))
    if (happens(0.004)) this.#pick(this.#hosts).state = 'gone'
    if (happens(0.005)) this.#operate()
    for (const host of this.#hosts) this.#liveHost(host)
    const isWaiting = this.#hosts.some(({ state }) => state === 'pending' || state === 'unprobed')
    const { isGiven, lateMs } = this.#rollout
    if (!isGiven || (isWaiting && this.#openMs() < lateMs)) this.#wellMs = this.#trueMs
  }

  #liveHost(host: Host): void {
    const { state } = host
    if (state === 'gone') return
    const chance = this.#random()
    if (chance < 0.002) host.isDark = !host.isDark
    if (host.isDark) return
    host.heardMs = this.#trueMs + this.#skewMs
    const to = (next: Host['state']): void => {
      host.state = next
    }
    if (this.#isUpdate && state === 'pending' && chance > 0.8) {
      to(host.declines ? 'declined' : 'done')
    } else if (state === 'declined' && chance > 0.999) to('done')
    else if (state === 'pending' && chance > 0.8) to(chance > 0.9 ? 'done' : 'unprobed')
    else if (state === 'pending' && chance > 0.795) to('failed')
    else if (state === 'unprobed' && chance > 0.7) to(chance > 0.72 ? 'done' : 'failed')
    else if (state === 'done' && chance > 0.9995) to('failed')
    else if (state === 'failed' && chance > 0.99) to('done')
    else if (state === 'failed' && chance > 0.98) to('pending')
  }

  #operate(): void {
    const rollout = this.#rollout
    const chance = this.#random()
    if (chance < 0.3 && rollout.state === 'running') this.#rollout = { ...rollout, state: 'paused' }
    else if (chance < 0.8 && (rollout.state === 'paused' || rollout.state === 'frozen')) {
      const { failed, pending, unprobed, done } = this.#count()
      const least = rollout.state === 'frozen' && done === 0 ? 1 : 0
      const tolerated = Math.max(rollout.tolerated, failed + pending + unprobed, least)
      this.#rollout = { ...rollout, state: 'running', reason: null, soakedMs: 0, tolerated }
    } else if (chance < 0.85) {
      const until = new Date(this.#now().getTime() + this.#random() * 600_000)
      this.#freeze = { id: 1, until, why: 'a holiday', setBy: 'admin', setAt: until, endedAt: null }
    } else this.#freeze = undefined
  }

  /** As a hub does it; what it decides comes true at once. */
  #look(): void {
    const now = this.#now()
    const { state, isGiven } = this.#rollout
    const timed = advanceTimes(this.#rollout, this.#watch, { now, stepMsMax: STEP_MS_MAX })
    const counts = this.#count()
    const freeze = this.#freeze
    const verdict = this.#decide({ rollout: timed, counts, freeze, now })
    const isSoaking = verdict.next === 'wait' && verdict.isSoaking
    const soakedMs = verdict.next === 'wait' && !isSoaking ? 0 : timed.soakedMs
    const { openMs } = timed
    this.#watch = { wave: timed.wave, lookedAt: now, isSoaking, openMs, soakedMs }
    // Written down at times only: a crash forgets the rest.
    if (this.#random() < 0.2) this.#rollout = { ...this.#rollout, openMs, soakedMs }
    if (state === 'running' && isGiven) this.#judge(verdict, freeze)
    this.#perform(verdict, now)
  }

  #perform(verdict: RolloutVerdict, now: Date): void {
    const rollout = this.#rollout
    if (verdict.next === 'freeze') {
      this.#freezes += 1
      this.#rollout = { ...rollout, state: 'frozen', reason: verdict.reason }
    } else if (verdict.next === 'open wave') this.#open(verdict.wave, now)
    else if (verdict.next === 'give') this.#give(now)
    else if (verdict.next === 'finish') {
      this.#rollout = { ...rollout, state: 'done', endedAt: now }
    }
  }

  #open(wave: number, now: Date): void {
    const rollout = this.#rollout
    if (wave > rollout.wave) this.#waves += 1
    const lacking = this.#hosts.filter(({ state }) => state === 'old')
    const given = this.#hosts.filter(({ state }) => state !== 'old' && state !== 'gone').length
    const size = rollout.waves[wave] ?? { of: 'percent', tenths: 1000 }
    const wanted = Math.max(given, hostsOfWave(size, given + lacking.length))
    const threshold = thresholdOf(
      lacking.map((host) => this.#placeOf(host, now)),
      wanted - given,
    )
    const opened = { wave, wanted, threshold, given, openedAt: now }
    this.#rollout = { ...rollout, ...opened, isGiven: false, openMs: 0, soakedMs: 0 }
  }

  #give(now: Date): void {
    const rollout = this.#rollout
    const isLast = isLastWave(rollout)
    // In slices of a few, between which a hub may die.
    const next = this.#hosts
      .filter((host) => host.state === 'old')
      .filter((host) => isLast || this.#placeOf(host, now) <= (rollout.threshold ?? 0))
      .slice(0, isLast ? 5 : Math.min(5, rollout.wanted - rollout.given))
    for (const host of next) {
      host.state = 'pending'
    }
    const given = rollout.given + next.length
    const isFull = isLast ? next.length === 0 : given >= rollout.wanted
    const isShort = !isFull && next.length === 0
    const threshold = isShort ? null : rollout.threshold
    this.#rollout = { ...rollout, given, threshold, isGiven: isFull }
    if (isFull) {
      this.#givenMs = this.#trueMs
      this.#jumpedMs = 0
    }
  }

  /** By what the hosts are, and by the true time: the decision knows neither the world nor the judge. */
  #judge(verdict: RolloutVerdict, freeze: Freeze | undefined): void {
    const rollout = this.#rollout
    const isForward =
      verdict.next === 'finish' || (verdict.next === 'open wave' && verdict.wave > rollout.wave)
    if (!isForward) return
    const given = this.#hosts.filter(({ state }) => state !== 'old' && state !== 'gone')
    const of = (...states: Host['state'][]): readonly Host[] =>
      given.filter(({ state }) => states.includes(state))
    const demand = (isSo: boolean, why: string): void => {
      if (!isSo) throw new Error(`seed ${this.#seed}, wave ${rollout.wave + 1}: ${why}`)
    }
    const openMs = this.#openMs()
    const unfinished = of('pending', 'unprobed')
    demand(
      unfinished.length === 0 || openMs >= rollout.lateMs,
      'it goes on before its hosts are done',
    )
    // Who is dark behind the last wave is waited for by nobody.
    const late = isLastWave(rollout) ? unfinished.filter((host) => !host.isDark) : unfinished
    const failures = of('failed').length + (isLastWave(rollout) ? 0 : late.length)
    const trying = given.length - of('declined').length
    const allowed = Math.max(failuresAllowed(rollout.maxFailed, trying), rollout.tolerated)
    demand(failures <= allowed, `it goes on with ${failures} failures, where ${allowed} may be`)
    const haveAllDeclined = given.length > 0 && trying === 0
    demand(
      of('done').length > 0 || rollout.tolerated > 0 || haveAllDeclined,
      'it goes on, and nobody is done',
    )
    const soakedMs = this.#trueMs - this.#wellMs + this.#jumpedMs
    demand(soakedMs >= rollout.soakMs, 'it goes on before it has soaked')
    const isHeld = freeze !== undefined && freeze.until > this.#now()
    demand(!isHeld, 'it goes on in a freeze')
  }

  /** True time, and what jumps of the clock may have added to it. */
  #openMs(): number {
    return this.#trueMs - this.#givenMs + this.#jumpedMs
  }

  #count(): RolloutCounts {
    const openedMs = this.#rollout.openedAt.getTime()
    const isLast = isLastWave(this.#rollout)
    const counts = {
      old: 0,
      pending: 0,
      silent: 0,
      unprobed: 0,
      done: 0,
      failed: 0,
      declined: 0,
      gone: 0,
    }
    for (const { state, heardMs } of this.#hosts) {
      counts[state] += 1
      if (isLast && state === 'pending' && heardMs < openedMs) counts.silent += 1
    }
    return counts
  }

  #newHost(name: string): Host {
    const isDark = this.#random() < 0.1
    const id = name as AgentId
    const declines = this.#isUpdate && this.#random() < 0.3
    return { id, state: 'old', heardMs: this.#trueMs, isDark, declines }
  }

  #placeOf({ id, heardMs }: Host, now: Date): number {
    return placeOf(this.#rollout.id, id, { lastHeardAt: new Date(heardMs), now })
  }

  #now(): Date {
    return new Date(this.#trueMs + this.#skewMs)
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value
  }
}
