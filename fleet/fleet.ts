// `npm run fleet -- [--agents N] [--storm KIND] …`: agents that are true to the protocol against a real hub and its CA, and a
// curve of what that costs. It fails when something does not work, never because something is slow.

import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus, homedir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { renderHead } from './curve.ts'
import { buildDriver } from './driver.ts'
import { parseFleetOptions } from './fleet-options.ts'
import { planFleet } from './fleet-plan.ts'
import { HUB_CORES, startFleetWorld } from './fleet-world.ts'
import { runStep } from './run-step.ts'
import { runRollout } from './run-rollout.ts'
import { runStorm } from './run-storm.ts'

const EXIT_INTERRUPTED = 130

await runProgram('fleet', async () => {
  const options = parseFleetOptions(process.argv.slice(2))
  if (options === undefined) return
  requireTaskset()
  // tidy: where everything that is built once goes.
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const driverProgram = buildDriver(join(cache, 'cartorio', 'fleet'))
  const filesMax = await readFilesMax()
  const print = (text: string): void => void process.stdout.write(text)
  const progress = (text: string): void => void process.stderr.write(`fleet: ${text}\n`)
  await using stack = new AsyncDisposableStack()
  cleanUpWhenInterrupted(stack, progress)
  print(describeMachine(filesMax))
  print(renderHead())
  for (const enrolled of options.steps) {
    const plan = planFleet(enrolled, filesMax, options.pollSeconds, options.storm)
    const context = { ...options, options, plan, driverProgram, stack, print, progress }
    await using world = await startFleetWorld(context)
    if (options.storm === undefined) await runStep(context, world)
    else if (options.storm === 'rollout') await runRollout(context, world)
    else await runStorm(context, world, options.storm)
    progress('cleaning up')
  }
})

/** Ctrl-C reaches the children too; what they leave behind is for us to remove. */
function cleanUpWhenInterrupted(
  stack: AsyncDisposableStack,
  progress: (text: string) => void,
): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      progress(`${signal}, cleaning up`)
      void stack.disposeAsync().finally(() => process.exit(EXIT_INTERRUPTED))
    })
  }
}

function requireTaskset(): void {
  if (HUB_CORES === undefined || spawnSync('taskset', ['--version']).status === 0) return
  throw new UserError('fleet', 'taskset is needed to give the hub one core', {
    hint: 'it is in util-linux; the fleet runs on Linux only',
  })
}

/** What a process may open: Node and Go raise their own limit to it. */
async function readFilesMax(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  return Number(/^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1] ?? 1024)
}

function describeMachine(filesMax: number): string {
  const [cpu] = cpus()
  const pinning =
    HUB_CORES === undefined ? 'everything on one core' : `the hub on core ${HUB_CORES}`
  return [
    `${cpu?.model ?? 'unknown CPU'}, ${availableParallelism()} cores, ${pinning}`,
    `CPU in % of one core; "others" is the rest of the machine`,
    `${filesMax} open files a process; Node ${process.versions.node}\n`,
  ].join('; ')
}
