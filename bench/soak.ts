// Whether memory stays: agents renew their identities as fast as they can, while the hub takes events. What each process holds in
// the end is compared with what it held after the first hundred renewals and their share of the events.

import { performance } from 'node:perf_hooks'
import { askRunningAgent } from '../src/agent/control/control-socket.ts'
import { invariant, UserError } from '../src/platform/errors.ts'
import { makeTestPrograms } from '../tools/test-programs.ts'
import { benchAgentData, startBenchAgent } from './agent.ts'
import type { Effort } from './bench-rows.ts'
import { builtAgent } from './built-agent.ts'
import { residentMegabytes } from './daemon.ts'
import { type Figure, valueFigure } from './figure.ts'
import { settledMegabytes } from './settled-memory.ts'
import { binary, startWorld, type World, type WorldOptions } from './world.ts'

const SLICE_RENEWALS = 100
const EVENT_AGENTS = 16
const EVENT_SECONDS = 0.5
const MINUTES_MAX = 60

interface Soaked {
  readonly what: string
  readonly pid: number
}

export async function measureSoak(
  options: WorldOptions,
  { renewals, events }: Effort,
): Promise<Figure[]> {
  await using world = await startWorld({ ...options, programs: await makeTestPrograms() })
  await using stack = new AsyncDisposableStack()
  const soaked: Soaked[] = [{ what: 'hub as packaged', pid: world.hub.pid }]
  const hostnames: string[] = []
  for (const [what, hostname, program] of [
    ['agent from source', 'bench-soak-source', binary('svc-agent')],
    ['agent, single executable', 'bench-soak-built', await builtAgent(options)],
  ] as const) {
    const { pid } = stack.use(await startBenchAgent(world, hostname, program))
    soaked.push({ what, pid })
    hostnames.push(hostname)
  }
  await world.load.send({ do: 'enroll-agents', count: EVENT_AGENTS })
  const endsMs = performance.now() + MINUTES_MAX * 60_000
  let done = { renewals: 0, events: 0 }
  let first: readonly number[] | undefined
  while (done.renewals < renewals) {
    if (performance.now() > endsMs) {
      throw new UserError('bench', `the soak is at ${describe(done)} after ${MINUTES_MAX} minutes`)
    }
    const upTo = Math.min(done.renewals + SLICE_RENEWALS, renewals)
    const eventsWanted = Math.ceil((events * upTo) / renewals) - done.events
    const [sent] = await Promise.all([
      sendEvents(world, eventsWanted),
      ...hostnames.map((hostname) => renew(world, hostname, upTo - done.renewals)),
    ])
    done = { renewals: upTo, events: done.events + sent }
    const megabytes = await Promise.all(soaked.map(({ pid }) => residentMegabytes(pid)))
    const shown = soaked.map(({ what }, index) => `${what} ${megabytes[index]?.toFixed(0)} MB`)
    process.stderr.write(`bench: soak: ${describe(done)}: ${shown.join(', ')}\n`)
    first ??= await settle(soaked)
  }
  const last = await settle(soaked)
  return soaked.map(({ what }, index) => {
    const [before, after] = [first?.[index], last[index]]
    invariant(before !== undefined && after !== undefined, 'each was looked at twice')
    return valueFigure({
      row: 'soak',
      what: `${what}, resident`,
      unit: '% more',
      value: (after / before - 1) * 100,
      aim: { atMost: 5 },
      note: `${before.toFixed(1)} MB after the first ${SLICE_RENEWALS} renewals of each agent, ${after.toFixed(1)} MB after ${describe(done)}`,
    })
  })
}

function describe({ renewals, events }: Pick<Effort, 'renewals' | 'events'>): string {
  return `${renewals} renewals of each agent and ${events} events`
}

async function settle(soaked: readonly Soaked[]): Promise<readonly number[]> {
  return Promise.all(soaked.map(({ pid }) => settledMegabytes(pid)))
}

/** As many as were sent, which is as many as were wanted and what the last half second brought beyond them. */
async function sendEvents({ load }: World, wanted: number): Promise<number> {
  let sent = 0
  while (sent < wanted) {
    sent += (await load.measure('events', { seconds: EVENT_SECONDS, pids: [] })).count
  }
  return sent
}

/** One after the other, by the agent that runs: a new key, a new certificate, new connections, a new stream. */
async function renew(world: World, hostname: string, count: number): Promise<number> {
  for (let renewal = 0; renewal < count; renewal += 1) {
    await askRunningAgent(benchAgentData(world, hostname), 'agent.sock', 'rotate')
  }
  return count
}
