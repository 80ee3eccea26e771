// Takes a sample every few seconds and prints it as a line of the curve; keeps them, to be added up.

import { systemClock } from '../src/platform/clock.ts'
import { describeInterval, type Interval, mergeSamples, renderInterval } from './curve.ts'
import type { Sample } from './driver.ts'
import type { FleetWorld } from './fleet-world.ts'
import { type Reading, readMeters } from './meters.ts'

export interface MeasuredPhase {
  readonly interval: Interval
  readonly sample: Sample
}

export interface PhaseOptions {
  readonly world: FleetWorld
  readonly agents: number
  readonly name: string
  readonly intervalSeconds: number
  /** Looked at after each interval. */
  isOver(this: void, sample: Sample, atSeconds: number): boolean
  print(this: void, line: string): void
}

/** What was counted before it begins is dropped. */
export async function measurePhase(options: PhaseOptions): Promise<MeasuredPhase> {
  const { world, agents, name, print } = options
  await world.driver.sample()
  const first = await readMeters(world)
  const samples: Sample[] = []
  let before = first
  // Of hubs that ended meanwhile.
  let lostSeconds = 0
  for (;;) {
    await systemClock.sleep(options.intervalSeconds * 1000)
    const sample = await world.driver.sample()
    const after = await readMeters(world)
    if (after.hubPid !== before.hubPid || after.hubSeconds < before.hubSeconds) {
      lostSeconds += before.hubSeconds
    }
    samples.push(sample)
    const atSeconds = after.atSeconds - first.atSeconds
    print(renderInterval(agents, name, atSeconds, describeInterval(before, after, sample), sample))
    before = after
    if (options.isOver(sample, atSeconds)) break
  }
  const merged = mergeSamples(samples)
  const whole: Reading = { ...before, hubPid: first.hubPid }
  const last = { ...whole, hubSeconds: before.hubSeconds + lostSeconds }
  // There is one at least.
  const sample = merged as Sample
  return { interval: describeInterval(first, last, sample), sample }
}
