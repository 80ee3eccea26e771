// What hub and agent hold in memory while nothing happens, and the hub after it had much to do.

import { systemClock } from '../src/platform/clock.ts'
import { makeTestPrograms } from '../tools/test-programs.ts'
import { enrolBenchAgent, runBenchAgent } from './agent.ts'
import { builtAgent } from './built-agent.ts'
import { cpuMsOfTree } from './cpu-of-tree.ts'
import { type Figure, valueFigure } from './figure.ts'
import { settledMegabytes } from './settled-memory.ts'
import { binary, startWorld, type World, type WorldOptions } from './world.ts'

const ROW = 'memory'
const AGENT_IDLE_MS = 60_000
const LOAD_SECONDS = 5
const STREAMS = 1000

export async function measureMemory(options: WorldOptions): Promise<Figure[]> {
  const agent = await builtAgent(options)
  const programs = await makeTestPrograms()
  const figures: Figure[] = []
  {
    await using world = await startWorld(options)
    figures.push(hubFigure('hub from source, idle', await settledMegabytes(world.hub.pid)))
    figures.push(...(await measureAgent(world, 'from source', binary('svc-agent'), 95)))
    figures.push(...(await measureAgent(world, 'single executable', agent, 85)))
  }
  await using world = await startWorld({ ...options, programs })
  // 100 and 220 MiB.
  figures.push(hubFigure('hub as packaged, idle', await settledMegabytes(world.hub.pid), 105))
  await workHard(world)
  const after = await settledMegabytes(world.hub.pid)
  return [...figures, hubFigure('hub as packaged, after every kind of load', after, 231)]
}

async function measureAgent(
  world: World,
  what: string,
  program: string,
  megabytesMax: number,
): Promise<Figure[]> {
  const hostname = `bench-agent-${megabytesMax}`
  const enrolled = await enrolBenchAgent(world, hostname, program)
  // The first run of a checkout also loads what strips types from the sources, 20 MB; later ones find what it kept.
  await (await runBenchAgent(enrolled))[Symbol.asyncDispose]()
  await using agent = await runBenchAgent(enrolled)
  const megabytes = await settledMegabytes(agent.pid)
  const before = await cpuMsOfTree(agent.pid)
  await systemClock.sleep(AGENT_IDLE_MS)
  const spent = (await cpuMsOfTree(agent.pid)) - before
  return [
    valueFigure({
      row: ROW,
      what: `agent ${what}, idle, stream held`,
      unit: 'MB',
      value: megabytes,
      aim: { atMost: megabytesMax },
      note: 'of its second start, the least of a look a second once it has settled',
    }),
    valueFigure({
      row: ROW,
      what: `agent ${what}, idle, CPU`,
      unit: '% of a core',
      value: (spent / AGENT_IDLE_MS) * 100,
      aim: { atMost: 0.05 },
      note: `over ${AGENT_IDLE_MS / 1000} s, which a tick of 10 ms divides into steps of 0.017`,
    }),
  ]
}

/** Every kind of load of the other rows, one after the other. */
async function workHard({ load, hub, mtlsAddress: address }: World): Promise<void> {
  await load.send({ do: 'enroll-agents', count: 128 })
  await load.send({ do: 'prepare', count: 1000 })
  const options = { seconds: LOAD_SECONDS, pids: [hub.pid], address }
  for (const workload of ['enroll', 'issue', 'recover', 'refused', 'handshake', 'kept', 'events']) {
    await load.measure(workload, options)
  }
  await load.measure('events', { ...options, clients: 128 })
  await load.send({ do: 'hold-streams', count: STREAMS })
  await load.send({ do: 'hold-streams', count: 0 })
}

function hubFigure(what: string, value: number, atMost?: number): Figure {
  const aim = atMost === undefined ? undefined : { atMost }
  return valueFigure({ row: ROW, what: `${what}, resident`, unit: 'MB', value, aim })
}
