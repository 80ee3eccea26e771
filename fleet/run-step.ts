// One step of the curve: agents start over a while, then they are measured as they go on.

import { UserError } from '../src/platform/errors.ts'
import { percent, renderInterval } from './curve.ts'
import type { FleetOptions } from './fleet-options.ts'
import type { FleetWorld, FleetWorldOptions } from './fleet-world.ts'
import { type MeasuredPhase, measurePhase } from './measured-fleet.ts'
import { readMeters } from './meters.ts'
import { renderFailures, renderOperations, renderVerdict } from './report.ts'

export interface RunContext extends FleetWorldOptions {
  readonly options: FleetOptions
  print(this: void, line: string): void
}

/** From their start until all have been served. */
const START_SECONDS_MAX = 120
/** Until agents that poll for others do so, each at its own time. */
const PACE_SECONDS = 10
const INTERVALS = 6
const INTERVAL_SECONDS_MAX = 10
/** What such a fleet may take: it makes 3,333 polls a second. */
const LARGE_FLEET = { agents: 100_000, pollSeconds: 30, hubShareMax: 0.45, p99MsMax: 20 }

export async function runStep(context: RunContext, world: FleetWorld): Promise<void> {
  const { plan, options, print } = context
  const before = await readMeters(world)
  await startAgents(context, world, true)
  if (plan.running < plan.enrolled) {
    await world.driver.send({ do: 'stand-in', enrolled: plan.enrolled })
    await measurePhase({
      world,
      agents: plan.enrolled,
      name: 'pace',
      intervalSeconds: PACE_SECONDS,
      print,
      isOver: () => true,
    })
  }
  const intervalSeconds = Math.min(INTERVAL_SECONDS_MAX, options.seconds / INTERVALS)
  const phase = await measurePhase({
    world,
    agents: plan.enrolled,
    name: 'steady',
    intervalSeconds,
    isOver: (_, atSeconds) => atSeconds > options.seconds - intervalSeconds / 2,
    print,
  })
  const { interval, sample } = phase
  print(renderInterval(plan.enrolled, 'all', interval.seconds, interval, sample))
  print(renderOperations(sample))
  print(renderFailures(sample))
  if (plan.enrolled >= 1000) print(renderSizing(context, phase, before.hubMegabytes))
  if (plan.enrolled === LARGE_FLEET.agents && options.pollSeconds === LARGE_FLEET.pollSeconds) {
    print(renderLargeFleet(phase))
  }
}

/** Until each has its manifest, and its stream if it is to hold one. */
export async function startAgents(
  { plan, print, progress }: RunContext,
  world: FleetWorld,
  renews: boolean,
): Promise<void> {
  const { driver } = world
  if (!plan.isFilled) await driver.send({ do: 'hosts', count: plan.running })
  progress(`${plan.running} agents start within ${plan.rampSeconds.toFixed(0)} s`)
  await driver.send({
    do: 'start',
    streams: plan.streams,
    ramp_seconds: plan.rampSeconds,
    renews,
  })
  const secondsMax = plan.rampSeconds + START_SECONDS_MAX
  const { sample } = await measurePhase({
    world,
    agents: plan.enrolled,
    name: 'start',
    intervalSeconds: Math.min(INTERVAL_SECONDS_MAX, plan.rampSeconds / INTERVALS),
    isOver: ({ served }, atSeconds) => served >= plan.running || atSeconds > secondsMax,
    print,
  })
  if (sample.served >= plan.running) return
  print(renderFailures(sample))
  throw new UserError('fleet', `${sample.served} of ${plan.running} agents were served`)
}

function renderSizing(
  { plan, options }: RunContext,
  { interval, sample }: MeasuredPhase,
  idleMegabytes: number,
): string {
  const thousands = plan.enrolled / 1000
  const used = interval.hubMegabytes - idleMegabytes
  const perThousand = (used / sample.connections) * 1000
  const standIns =
    plan.running < plan.enrolled
      ? `; ${plan.running} agents run, each polls for ${(plan.enrolled / plan.running).toFixed(1)}`
      : ''
  return [
    `${plan.enrolled} agents at ${options.pollSeconds} s polls: ${percent(interval.hubShare / thousands)} % of a core`,
    ` and ${perThousand.toFixed(1)} MB of the hub for each 1,000 agents and each 1,000 connections`,
    ` (${idleMegabytes.toFixed(0)} MB before the first${standIns})\n`,
  ].join('')
}

function renderLargeFleet({ interval, sample }: MeasuredPhase): string {
  const { hubShareMax, p99MsMax } = LARGE_FLEET
  const p99Ms = interval.p99Ms ?? Number.POSITIVE_INFINITY
  return [
    renderVerdict(
      `hub: ${percent(interval.hubShare)} % of a core, at most ${percent(hubShareMax)} %`,
      interval.hubShare <= hubShareMax,
    ),
    renderVerdict(`p99: ${p99Ms.toFixed(1)} ms, at most ${p99MsMax} ms`, p99Ms <= p99MsMax),
    renderVerdict(`errors: ${interval.failures}, none`, interval.failures === 0),
    renderVerdict(`CA calls at once: ${sample.ca_at_once}, at most 16`, sample.ca_at_once <= 16),
  ].join('')
}
