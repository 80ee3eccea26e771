// Both sides of a row are measured in turn, round after round, after a warm-up: V8 compiles what is called often, so that the first
// seconds of a hub cost several times as much as the rest of its life.

import type { Measurement } from './load-generator.ts'

/** The hub, or what it is compared with. */
export interface Side {
  readonly name: string
  /** Work that is not measured, before each measurement. */
  readonly prepare?: () => Promise<unknown>
  readonly measure: () => Promise<Measurement>
}

export interface Rounds {
  /** Of each side, in the order of the sides. */
  readonly samples: readonly (readonly Measurement[])[]
  readonly warmUpRounds: number
  readonly isSettled: boolean
}

export interface RoundsWanted {
  readonly rounds?: number
  /** All sides are hubs, and are warmed up alike. */
  readonly areHubs?: boolean
}

const ROUNDS = 5
const WARM_UP_ROUNDS_MIN = 3
const WARM_UP_ROUNDS_MAX = 12
const SETTLED_WITHIN = 0.05

/** The first side is the hub. */
export async function measureRounds(
  sides: readonly Side[],
  { rounds = ROUNDS, areHubs = false }: RoundsWanted = {},
): Promise<Rounds> {
  const { isSettled, warmUpRounds } = await warmUp(sides, areHubs)
  const samples: Measurement[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, measurement] of (await measureOnce(sides)).entries()) {
      samples[index]?.push(measurement)
    }
  }
  return { samples, warmUpRounds, isSettled }
}

/** Until a round costs the hub within 5 % of the one before. The others have less to compile, unless they are hubs too. */
async function warmUp(
  sides: readonly Side[],
  areHubs: boolean,
): Promise<Pick<Rounds, 'warmUpRounds' | 'isSettled'>> {
  let before = Number.POSITIVE_INFINITY
  for (let round = 1; round <= WARM_UP_ROUNDS_MAX; round += 1) {
    const isOfAll = areHubs || round < WARM_UP_ROUNDS_MIN
    const [hub] = await measureOnce(isOfAll ? sides : sides.slice(0, 1))
    const now = hub === undefined ? 0 : cpuMsEach(hub)
    const isSettled = Math.abs(now / before - 1) <= SETTLED_WITHIN
    if (isSettled && round >= WARM_UP_ROUNDS_MIN) return { warmUpRounds: round, isSettled }
    before = now
  }
  return { warmUpRounds: WARM_UP_ROUNDS_MAX, isSettled: false }
}

async function measureOnce(sides: readonly Side[]): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (const side of sides) {
    await side.prepare?.()
    measurements.push(await side.measure())
  }
  return measurements
}

/** Of the process that serves, or of another one that was watched with it. */
export function cpuMsEach({ cpuMs, count }: Measurement, process = 0): number {
  return (cpuMs[process] ?? 0) / count
}

export function ratePerSecond({ count, seconds }: Measurement): number {
  return count / seconds
}
