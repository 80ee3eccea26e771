// What an event costs with the log's tree, beside a hub that has none: both at once, measured in turn.

import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/platform/clock.ts'
import { cpuMsOfTree } from './cpu-of-tree.ts'
import type { Figure } from './figure.ts'
import { measureRow } from './row.ts'
import type { Side } from './rounds.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

const CLIENTS = 128
const ROUNDS = 11
const WITHOUT = 'a hub without the tree'
const WITHOUT_TREE = fileURLToPath(new URL('./without-tree.ts', import.meta.url))
/** The tree takes entries at most a second after their commit, and what that costs belongs to the events. */
const TREE_MS = 2500

export async function measureTree(options: WorldOptions, seconds: number): Promise<Figure[]> {
  await using without = await startWorld({ ...options, preload: WITHOUT_TREE })
  const row = {
    name: 'tree',
    start: async (world: World) => {
      for (const { load } of [world, without]) {
        await load.send({ do: 'enroll-agents', count: CLIENTS })
      }
      return {
        sides: [sideOf('hub', world, seconds), sideOf(WITHOUT, without, seconds)],
        wanted: { rounds: ROUNDS, areHubs: true },
        figures: [{ what: `durable event, ${CLIENTS} agents`, by: WITHOUT, aim: { atMost: 1.1 } }],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }
    },
  }
  // Awaited here, or the other hub would end first.
  return await measureRow(row, seconds, options)
}

function sideOf(name: string, { load, hub }: World, seconds: number): Side {
  return {
    name,
    measure: async () => {
      const before = await cpuMsOfTree(hub.pid)
      const measured = await load.measure('events', { seconds, clients: CLIENTS, pids: [hub.pid] })
      await systemClock.sleep(TREE_MS)
      return { ...measured, cpuMs: [(await cpuMsOfTree(hub.pid)) - before] }
    },
  }
}
