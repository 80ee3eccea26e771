// `svc vault migrate` of one vault, again and again, killed in between: each way, where it was killed, and what was found then.

import { systemClock } from '../src/platform/clock.ts'
import { describeError, UserError } from '../src/platform/errors.ts'
import type { Random } from '../test/simulation/seeded-random.ts'
import { type RunningProgram, startProgram, type Variables } from '../test/support/processes.ts'
import type { MovedVault } from './moved-vault.ts'

export interface MoverOptions {
  readonly vault: MovedVault
  readonly environment: Variables
  readonly random: Random
  readonly progress: (text: string) => void
}

type Place = 'embedded' | 'postgresql'

const ENDED = 'the vault was moved out of the database'

export class VaultMover {
  /** Where to, killed after, took (both in seconds), and then. */
  readonly rows: string[][] = []
  readonly faults: string[] = []
  readonly #vault: MovedVault
  readonly #environment: Variables
  readonly #random: Random
  readonly #progress: (text: string) => void
  /** The shortest whole move: a kill is to come before its end. */
  readonly #tookMs: Record<Place, number> = { embedded: Infinity, postgresql: Infinity }

  constructor({ vault, environment, random, progress }: MoverOptions) {
    this.#vault = vault
    this.#environment = environment
    this.#random = random
    this.#progress = progress
  }

  /** Whatever was killed before, the command leads there. */
  async moveTo(place: Place): Promise<void> {
    const wasThere = this.#isAt(place)
    const startMs = performance.now()
    const { status, stderr } = await this.#start(place).ended
    if (status !== 0) throw new UserError('fleet', `svc vault migrate --to ${place}: ${stderr}`)
    const tookMs = performance.now() - startMs
    if (!wasThere) this.#tookMs[place] = Math.min(this.#tookMs[place], tookMs)
    await this.#note(place, '', seconds(tookMs), wasThere ? 'there already' : 'moved')
  }

  /** From the other place, once in each of so many parts of the time that the way takes. */
  async killOnTheWay(place: Place, kills: number): Promise<void> {
    const other = place === 'postgresql' ? 'embedded' : 'postgresql'
    for (let kill = 0; kill < kills; kill += 1) {
      if (this.#isAt(place)) await this.moveTo(other)
      const afterMs = (this.#tookMs[place] * (kill + this.#random())) / kills
      const running = this.#start(place)
      const inTime = new AbortController()
      const late = systemClock.sleep(afterMs, inTime.signal).catch(() => undefined)
      await Promise.race([late, running.ended])
      inTime.abort()
      running.kill('SIGKILL')
      await running.ended
      await this.#note(place, seconds(afterMs), '', this.#isAt(place) ? 'moved' : 'as it was')
    }
  }

  #isAt(place: Place): boolean {
    return this.#vault.isShared() === (place === 'postgresql')
  }

  #start(place: Place): RunningProgram {
    return startProgram('svc', ['vault', 'migrate', '--to', place], this.#environment)
  }

  async #note(place: Place, killed: string, took: string, then: string): Promise<void> {
    const row = [place, killed, took, then]
    try {
      this.faults.push(...(await this.#vault.findFaults()))
    } catch (error) {
      // Its journal has ended, and the vault does not know yet: the command goes on from there.
      const isHalfWay = then === 'as it was' && describeError(error).includes(ENDED)
      if (!isHalfWay) this.faults.push(describeError(error))
      row[3] = isHalfWay ? 'half way' : 'damaged'
    }
    this.rows.push(row)
    this.#progress(row.filter((cell) => cell !== '').join('  '))
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
