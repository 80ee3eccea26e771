// What agents wait for while the hub archives its log, and while it makes a backup, beside what they wait for alone. The three take turns,
// round after round in one run, so that whatever else the machine does meets all of them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import { operationsOf } from './agent.ts'
import { stop } from './daemon.ts'
import { type Figure, valueFigure } from './figure.ts'
import type { Measurement } from './load-generator.ts'
import { medianOf } from './ratio.ts'
import { binary, startWorld, type World, type WorldOptions } from './world.ts'

/** The archive is to last for all rounds. */
const ENTRIES = 900_000
/** Nearly as many are older than 30 days. */
const OLD_SHARE = 0.6
const ROUNDS = 7
const SECONDS = 4
const AGENTS = 16
/** Of each: a tenth of what the hub can do. */
const PER_SECOND = 20
const ARCHIVED_AGE_MS = 30 * 86_400_000
/** `svc` has begun by then. */
const START_MS = 1500
const READY_MS_MAX = 120_000
const REQUESTS = [
  { name: 'kept', what: 'polls' },
  { name: 'events', what: 'events' },
] as const
/** Beside the p99 alone: a tenth of that, or these milliseconds, whichever is more. */
const MORE_SHARE = 0.1
const MORE_MS = 5

interface Work {
  readonly name: string
  /** Undefined for nothing at all. */
  readonly start: ((world: World) => Promise<RunningWork>) | undefined
}

interface RunningWork {
  readonly hasEnded: () => boolean
  /** Resolves when the hub does nothing of it any more. */
  stop(): Promise<void>
}

const ALONE: Work = { name: 'alone', start: undefined }
const BESIDE: readonly Work[] = [
  { name: 'an archive', start: startArchive },
  { name: 'a backup', start: startBackup },
]

export async function measureBeside(options: WorldOptions): Promise<Figure[]> {
  const variables = (directory: string) => ({ SVC_LOG_ARCHIVE_DIR: segmentsOf(directory) })
  await using world = await startWorld({ ...options, entries: ENTRIES, variables })
  await mkdir(segmentsOf(world.directory), { mode: 0o700 })
  await world.load.send({ do: 'enroll-agents', count: AGENTS })
  await waitUntilArchivable(world)
  const samples = new Map<string, Measurement[]>()
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name } of REQUESTS) {
      for (const work of [ALONE, ...BESIDE]) {
        const sample = await measureOnce(world, name, work)
        // The first round warms up.
        if (round > 0) samplesOf(samples, name, work).push(sample)
      }
    }
  }
  return REQUESTS.flatMap(({ name, what }) => {
    const alone = samplesOf(samples, name, ALONE)
    return BESIDE.map((work) => figureOf(what, work.name, alone, samplesOf(samples, name, work)))
  })
}

function segmentsOf(directory: string): string {
  return join(directory, 'segments')
}

function samplesOf(
  all: Map<string, Measurement[]>,
  request: string,
  { name }: Work,
): Measurement[] {
  const key = `${request} ${name}`
  const samples = all.get(key) ?? []
  all.set(key, samples)
  return samples
}

async function measureOnce(
  world: World,
  request: string,
  { name, start }: Work,
): Promise<Measurement> {
  const work = await start?.(world)
  try {
    if (work !== undefined) await systemClock.sleep(START_MS)
    const address = world.mtlsAddress
    const options = { seconds: SECONDS, pids: [], clients: AGENTS, perSecond: PER_SECOND, address }
    const sample = await world.load.measure(request, options)
    // What had ended by itself was not beside it.
    if (work?.hasEnded() === true) {
      throw new UserError('bench', `${name} ended before the measurement beside it`)
    }
    return sample
  } finally {
    await work?.stop()
  }
}

/** As `svc evento archive` does it: one step after the other. */
async function startArchive(world: World): Promise<RunningWork> {
  const operations = await operationsOf(world)
  const before = new Date(systemClock.now().getTime() - ARCHIVED_AGE_MS).toISOString()
  const stopping = new AbortController()
  let hasEnded = false
  const steps = (async () => {
    while (!stopping.signal.aborted) {
      const { done } = await operations.archiveEntries({ before })
      if (done) break
    }
    hasEnded = true
  })()
  return {
    hasEnded: () => hasEnded,
    stop: async () => {
      stopping.abort()
      await steps
    },
  }
}

async function startBackup({ directory, environment }: World): Promise<RunningWork> {
  const svc = spawn(binary('svc'), ['backup', '--replace', join(directory, 'made.svcbackup')], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return { hasEnded: () => svc.exitCode !== null, stop: () => stop(svc) }
}

/** A hub that is new to a log signs it in the background first. */
async function waitUntilArchivable(world: World): Promise<void> {
  const startedMs = performance.now()
  for (;;) {
    const svc = spawn(
      binary('svc'),
      ['evento', 'archive', '--before', '30d', '--dry-run', '--json'],
      {
        env: { ...process.env, ...world.environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const ended = once(svc, 'close')
    const output = (await svc.stdout.toArray()).join('')
    await ended
    const until = Number(/"ate": ?(\d+)/.exec(output)?.[1] ?? 0)
    if (until >= ENTRIES * OLD_SHARE) return
    if (performance.now() - startedMs > READY_MS_MAX) {
      throw new UserError('bench', `nothing can be archived: ${output}`)
    }
    await systemClock.sleep(1000)
  }
}

function figureOf(
  what: string,
  beside: string,
  alone: readonly Measurement[],
  samples: readonly Measurement[],
): Figure {
  const p99 = (of: readonly Measurement[]): number => medianOf(of.map(({ p99Ms }) => p99Ms))
  const most = (of: readonly Measurement[]): string =>
    `${medianOf(of.map(({ maxMs }) => maxMs)).toFixed(1)}, ${Math.max(...of.map(({ maxMs }) => maxMs)).toFixed(1)}`
  const more = samples.map(({ p99Ms }, round) => p99Ms - (alone[round]?.p99Ms ?? 0))
  return valueFigure({
    row: 'beside',
    what: `${what} beside ${beside}, p99 more than alone`,
    unit: 'ms by the clock',
    value: medianOf(more),
    aim: { atMost: Math.max(p99(alone) * MORE_SHARE, MORE_MS) },
    note: `p99 ${p99(samples).toFixed(1)}, alone ${p99(alone).toFixed(1)} ms; longest, median and most of ${samples.length} rounds: ${most(samples)}, alone ${most(alone)} ms`,
  })
}
