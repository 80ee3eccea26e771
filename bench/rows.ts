// The rows of the table that are rates: what is measured, against what, on which cores.

import { join } from 'node:path'
import { cpuSecondsSpent, type Daemon } from './daemon.ts'
import type { Measurement } from './load-generator.ts'
import { type Ratio, ratioOf, type Round } from './ratio.ts'
import { startSealedBlob } from './sealed-blob.ts'
import { SERVER_CORE, startBareServer, startWorld, type World, type WorldOptions } from './world.ts'

export interface RateRow {
  readonly name: string
  readonly what: string
  readonly yardstick: string
  /** The least ratio that is hoped for. */
  readonly aim: number
  readonly isPinned: boolean
  /** Both sides, ready to be measured again and again. */
  readonly start: (world: World, seconds: number) => Promise<Sides>
}

interface Sides {
  readonly measureYardstick: () => Promise<Measurement>
  /** Work outside the clock before each measurement of the hub. */
  readonly prepare?: () => Promise<void>
  readonly measureHub: () => Promise<Measurement>
  /** What else the reader is to know, after the last round. */
  readonly describe?: () => Promise<string>
  readonly end?: () => Promise<void>
}

export interface RateResult extends Ratio {
  /** The most that the load generator was busy, in cores. */
  readonly busyMax: number
  readonly note: string | undefined
}

const ROUNDS = 5
const ISSUING_AGENTS = 16
const AGENTS = 32
/** More than any hub enrols in a second on two cores. */
const ENROLMENTS_PER_SECOND = 700

export const RATE_ROWS: readonly RateRow[] = [
  {
    name: 'enroll',
    what: 'enrolments/s, 16 clients',
    yardstick: 'direct signs/s at the same step-ca',
    aim: 0.3,
    isPinned: false,
    start: async ({ load }, seconds) => ({
      measureYardstick: () => load.measure('sign', { seconds }),
      prepare: () =>
        load.send({ do: 'prepare', count: Math.ceil(seconds * ENROLMENTS_PER_SECOND) }),
      measureHub: () => load.measure('enroll', { seconds }),
    }),
  },
  {
    name: 'issue',
    what: 'certs/issue/s, 16 agents',
    yardstick: 'direct signs/s at the same step-ca',
    aim: 0.3,
    isPinned: false,
    start: async ({ load }, seconds) => {
      await load.send({ do: 'enroll-agents', count: ISSUING_AGENTS })
      return {
        measureYardstick: () => load.measure('sign', { seconds }),
        measureHub: () => load.measure('issue', { seconds }),
      }
    },
  },
  {
    name: 'handshake',
    what: 'full mTLS handshake + manifest/s, 8 at once',
    yardstick: 'the same at a bare node:https server',
    aim: 0.75,
    isPinned: true,
    start: (world, seconds) => startBeside(world, 'handshake', seconds),
  },
  {
    name: 'kept',
    what: 'manifest/s on 32 kept mTLS connections',
    yardstick: 'the same at a bare node:https server',
    aim: 0.2,
    isPinned: true,
    start: (world, seconds) => startBeside(world, 'kept', seconds),
  },
  {
    name: 'events',
    what: 'durable events/s, 32 agents',
    yardstick: '(write 512 B + fdatasync)/s of the same disk',
    aim: 1,
    isPinned: false,
    start: async ({ load, directory }, seconds) => {
      await load.send({ do: 'enroll-agents', count: AGENTS })
      const path = join(directory, 'fdatasync')
      return {
        measureYardstick: () => load.measure('fdatasync', { seconds, path }),
        measureHub: () => load.measure('events', { seconds }),
      }
    },
  },
  {
    name: 'sealed-blob',
    what: 'MB/s of a sealed blob of 1 MiB to 100 agents at once',
    yardstick: 'the same at a bare node:https server',
    aim: 0.5,
    isPinned: true,
    start: startSealedBlob,
  },
]

async function startBeside(world: World, name: string, seconds: number): Promise<Sides> {
  const { load, hub, mtlsAddress } = world
  await load.send({ do: 'enroll-agents', count: AGENTS })
  const bare = await startBareServer(world, { cores: SERVER_CORE })
  const bareAddress = `127.0.0.1:${bare.portOf('listening')}`
  // A saturated core does as much in a second of the server's CPU time as in a second of the clock, unless others use it
  // too: that is what is left out here.
  const measure = async ({ pid }: Daemon, address: string): Promise<Measurement> => {
    const [measurement, spent] = await cpuSecondsSpent(pid, () =>
      load.measure(name, { seconds, address }),
    )
    return { ...measurement, seconds: spent }
  }
  return {
    measureYardstick: () => measure(bare, bareAddress),
    measureHub: () => measure(hub, mtlsAddress),
    end: async () => bare[Symbol.asyncDispose](),
  }
}

export async function measureRow(
  row: RateRow,
  seconds: number,
  options: Omit<WorldOptions, 'isPinned'>,
): Promise<RateResult> {
  await using world = await startWorld({ ...options, isPinned: row.isPinned })
  const sides = await row.start(world, seconds)
  const rounds: Round[] = []
  let busyMax = 0
  let note: string | undefined
  try {
    // The first round warms both sides up and does not count.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const yardstick = await sides.measureYardstick()
      await sides.prepare?.()
      const hub = await sides.measureHub()
      if (round === 0) continue
      rounds.push({ subject: rateOf(hub), yardstick: rateOf(yardstick) })
      busyMax = Math.max(busyMax, hub.busy, yardstick.busy)
    }
    note = await sides.describe?.()
  } finally {
    await sides.end?.()
  }
  return { ...ratioOf(rounds), busyMax, note }
}

function rateOf({ count, seconds }: Measurement): number {
  return count / seconds
}
