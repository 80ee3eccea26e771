// What a fleet costs the hub that holds its streams and does nothing else.

import { systemClock } from '../src/platform/clock.ts'
import { cpuMsOfTree } from './cpu-of-tree.ts'
import { residentMegabytes } from './daemon.ts'
import { type Figure, valueFigure } from './figure.ts'
import { restartHub, startWorld, type WorldOptions } from './world.ts'

const STREAMS = 1000
const WARM_UP_STREAMS = 200
const SETTLE_MS = 5000
/** Each stream gets a comment every 25 s. */
const IDLE_MS = 50_000

export async function measureHeldStreams(options: WorldOptions): Promise<Figure[]> {
  await using world = await startWorld(options)
  const { load } = world
  await load.send({ do: 'enroll-agents', count: STREAMS })
  // What enrolling them left behind in the hub would be room for streams.
  await using hub = await restartHub(world)
  await load.send({ do: 'hold-streams', count: WARM_UP_STREAMS })
  await load.send({ do: 'hold-streams', count: 0 })
  await systemClock.sleep(SETTLE_MS)
  const before = await residentMegabytes(hub.pid)
  await load.send({ do: 'hold-streams', count: STREAMS })
  await systemClock.sleep(SETTLE_MS)
  const after = await residentMegabytes(hub.pid)
  const spentBefore = await cpuMsOfTree(hub.pid)
  await systemClock.sleep(IDLE_MS)
  const spent = (await cpuMsOfTree(hub.pid)) - spentBefore
  await load.send({ do: 'check-streams' })
  const row = 'stream-1000'
  return [
    valueFigure({
      row,
      what: 'each of 1000 held streams, resident',
      value: ((after - before) * 1000) / STREAMS,
      unit: 'KB',
      aim: { atMost: 90 },
      note: `the hub ${before.toFixed(0)} MB before them, ${after.toFixed(0)} MB with them`,
    }),
    valueFigure({
      row,
      what: 'hub with 1000 idle streams, CPU',
      value: (spent / IDLE_MS) * 100,
      unit: '% of a core',
      note: `over ${IDLE_MS / 1000} s`,
    }),
  ]
}
