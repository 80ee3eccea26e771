// How many entries `svc evento list --verify` reads and hashes in a second of CPU time: by itself, and beside a hub, whose CPU time
// then counts too. What any command of svc costs before it begins is left out.

import { spawnSync } from 'node:child_process'
import { UserError } from '../src/platform/errors.ts'
import { cpuMsOfEndedChildren, cpuMsOfTree } from './cpu-of-tree.ts'
import { type Figure, valueFigure } from './figure.ts'
import { binary, startWorld, type World, type WorldOptions } from './world.ts'

const ENTRIES = 500_000

export async function measureVerify(options: WorldOptions): Promise<Figure[]> {
  await using world = await startWorld({ ...options, entries: ENTRIES })
  const beside = await measureOnce(world, 'beside a hub', () => cpuMsOfTree(world.hub.pid))
  await world.hub[Symbol.asyncDispose]()
  return [beside, await measureOnce(world, 'without a hub', () => Promise.resolve(0))]
}

async function measureOnce(
  { environment }: World,
  what: string,
  hubMs: () => Promise<number>,
): Promise<Figure> {
  const spend = async (...args: readonly string[]): Promise<{ svc: number; hub: number }> => {
    const before = { svc: cpuMsOfEndedChildren(), hub: await hubMs() }
    const { status, stderr } = spawnSync(binary('svc'), ['evento', 'list', '--json', ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    })
    if (status !== 0) throw new UserError('bench', `svc evento list: ${stderr}`)
    return { svc: cpuMsOfEndedChildren() - before.svc, hub: (await hubMs()) - before.hub }
  }
  // With --limit it prints little, and verifies all the same.
  const start = await spend('--limit', '1')
  const whole = await spend('--limit', '1', '--verify')
  const svcMs = whole.svc - start.svc
  const hubsMs = whole.hub - start.hub
  return valueFigure({
    row: 'verify',
    what: `evento list --verify, ${what}`,
    unit: 'entries/s of CPU',
    value: ENTRIES / ((svcMs + hubsMs) / 1000),
    aim: { atLeast: 300_000 },
    note: `${ENTRIES} entries: svc ${svcMs} ms, hub ${hubsMs} ms, start of svc ${start.svc} ms`,
  })
}
