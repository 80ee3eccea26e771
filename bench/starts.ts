// How long programs take to start, each beside a Node that does nothing.

import { spawnSync } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { UserError } from '../src/platform/errors.ts'
import { pinnedNode } from '../tools/build/runtime.ts'
import { cpuMsOfEndedChildren, cpuMsOfTree } from './cpu-of-tree.ts'
import { type Figure, ratioFigure, valueFigure } from './figure.ts'
import { medianOf } from './ratio.ts'
import { binary, startHub, startWorld, type WorldOptions } from './world.ts'

const ROUNDS = 7

interface Start {
  readonly wallMs: number
  readonly cpuMs: number
}

export async function measureStarts(options: WorldOptions): Promise<Figure[]> {
  await using world = await startWorld(options)
  await world.hub[Symbol.asyncDispose]()
  const nodes: Start[] = []
  const versions: Start[] = []
  const hubs: Start[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    nodes.push(runToEnd(pinnedNode(), ['-e', '0']))
    versions.push(runToEnd(binary('svc'), ['--version']))
    await using hub = await startHub(world.environment, world.hubLogPath)
    hubs.push({ wallMs: hub.readyMs, cpuMs: await cpuMsOfTree(hub.pid) })
  }
  const row = 'ready'
  const besideNode = (what: string, starts: readonly Start[]): Figure =>
    ratioFigure({
      row,
      what,
      unit: 'ms',
      yardstickName: 'node -e 0',
      rounds: starts.map(({ cpuMs }, round) => ({
        subject: cpuMs,
        yardstick: nodes[round]?.cpuMs ?? 0,
      })),
      note: `${medianOf(starts.map(({ wallMs }) => wallMs)).toFixed(0)} ms by the clock`,
    })
  return [
    valueFigure({
      row,
      what: 'hub ready, empty vault, certificate on disk',
      unit: 'ms by the clock',
      value: medianOf(hubs.map(({ wallMs }) => wallMs)),
      aim: { atMost: 800 },
    }),
    besideNode('hub until it is ready, CPU', hubs),
    besideNode('svc --version, CPU', versions),
  ]
}

function runToEnd(program: string, args: readonly string[]): Start {
  const startedMs = performance.now()
  const before = cpuMsOfEndedChildren()
  const { status } = spawnSync(program, args, { stdio: 'ignore' })
  if (status !== 0) throw new UserError('bench', `${program} ${args.join(' ')} failed`)
  return { wallMs: performance.now() - startedMs, cpuMs: cpuMsOfEndedChildren() - before }
}
