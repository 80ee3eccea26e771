// What a hub costs in its first ten seconds of work, while V8 has compiled little of it, beside the same hub later on.

import { ratioFigure, type Figure } from './figure.ts'
import type { Measurement } from './load-generator.ts'
import { medianOf } from './ratio.ts'
import { cpuMsEach, measureRounds } from './rounds.ts'
import { restartHub, startWorld, type WorldOptions } from './world.ts'

const COLD_SECONDS = 10
const AGENTS = 16

export async function measureCold(options: WorldOptions, seconds: number): Promise<Figure[]> {
  await using world = await startWorld(options)
  await world.load.send({ do: 'enroll-agents', count: AGENTS })
  // Enrolling them has warmed the first hub up.
  await using hub = await restartHub(world)
  const measure = (): Promise<Measurement> =>
    world.load.measure('issue', { seconds, pids: [hub.pid] })
  const first: Measurement[] = []
  for (let spentMs = 0; spentMs < COLD_SECONDS * 1000;) {
    const measurement = await measure()
    first.push(measurement)
    spentMs += measurement.cpuMs[0] ?? 0
  }
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
  const coldMs = sum(first.map(({ cpuMs }) => cpuMs[0] ?? 0)) / sum(first.map(({ count }) => count))
  const { samples } = await measureRounds([{ name: 'hub', measure }])
  const [steady = []] = samples
  return [
    ratioFigure({
      row: 'cold',
      what: `certs/issue, first ${COLD_SECONDS} s of CPU`,
      unit: 'ms',
      yardstickName: 'the same hub later',
      rounds: [{ subject: coldMs, yardstick: medianOf(steady.map((sample) => cpuMsEach(sample))) }],
      note: `the first ${seconds} s ${first[0] === undefined ? '' : cpuMsEach(first[0]).toFixed(2)} ms`,
    }),
  ]
}
