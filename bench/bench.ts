// `npm run bench -- [--only NAME] [--seconds N] [--profile DIRECTORY]`: one table of what the hub does, as ratios to
// yardsticks that are measured in the same run. --profile leaves CPU profiles of the hub, which slow it a little. It fails when something does not work, never because something is slow.

import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, homedir, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureStepCa } from '../tools/install-step-ca.ts'
import { buildLoadGenerator } from './load-generator.ts'
import { measureRow, RATE_ROWS } from './rows.ts'
import { renderBounded, renderRate, renderReport, renderTime, type ReportRow } from './report.ts'
import { measureSteps } from './steps.ts'
import { measurePushLatency, measureStreamMemory } from './streams.ts'
import { measureTimes } from './times.ts'

const TIMES = 'times'
const STEPS = 'steps'
const BOUNDED_ROWS = new Map([
  ['push-latency', measurePushLatency],
  ['stream-memory', measureStreamMemory],
])
const NAMES = [...RATE_ROWS.map(({ name }) => name), ...BOUNDED_ROWS.keys(), STEPS, TIMES]
const SECONDS_DEFAULT = 2

interface Options {
  readonly names: readonly string[]
  /** Of one side of one round. */
  readonly seconds: number
  readonly profileDirectory: string | undefined
}

await runProgram('bench', async () => {
  const { names, seconds, profileDirectory } = parseOptions(process.argv.slice(2))
  requireTaskset()
  const cacheDirectory = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'cartorio',
    'bench',
  )
  const loadProgram = buildLoadGenerator(cacheDirectory)
  await ensureStepCa()
  const worldOptions = { cacheDirectory, loadProgram, profileDirectory }

  const [loadBefore = 0] = loadavg()
  const rows: ReportRow[] = []
  for (const row of RATE_ROWS.filter(({ name }) => names.includes(name))) {
    process.stderr.write(`bench: ${row.name}\n`)
    rows.push(renderRate(row, await measureRow(row, seconds, worldOptions)))
  }
  for (const [name, measure] of BOUNDED_ROWS) {
    if (!names.includes(name)) continue
    process.stderr.write(`bench: ${name}\n`)
    rows.push(renderBounded(await measure({ ...worldOptions, isPinned: false })))
  }
  if (names.includes(STEPS)) {
    process.stderr.write(`bench: ${STEPS}\n`)
    rows.push(...(await measureSteps()).map(renderBounded))
  }
  if (names.includes(TIMES)) {
    process.stderr.write(`bench: ${TIMES}\n`)
    const times = await measureTimes({ ...worldOptions, isPinned: false })
    rows.push(...times.map(renderTime))
  }
  process.stdout.write(renderReport(rows, describeMachine(seconds, loadBefore)))
})

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      seconds: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const names = values.only ?? NAMES
  const unknown = names.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) {
    throw new UserError('bench', `there is no row ${unknown}`, {
      hint: `rows: ${NAMES.join(', ')}`,
    })
  }
  const seconds = Number(values.seconds ?? SECONDS_DEFAULT)
  if (!(seconds > 0 && seconds <= 60)) throw new UserError('bench', '--seconds is from 0 to 60')
  return { names, seconds, profileDirectory: values.profile }
}

function requireTaskset(): void {
  if (availableParallelism() < 2) {
    throw new UserError('bench', 'two cores are needed: one for the server, one for the load')
  }
  if (spawnSync('taskset', ['--version']).status !== 0) {
    throw new UserError('bench', 'taskset is needed to give the server one core', {
      hint: 'it is in util-linux; the benchmark runs on Linux only',
    })
  }
}

function describeMachine(seconds: number, loadBefore: number): string {
  const [cpu] = cpus()
  return [
    `${cpu?.model ?? 'unknown CPU'}, ${availableParallelism()} cores`,
    `load ${loadBefore.toFixed(1)} before the start (other work on the machine widens the ranges)`,
    `Node ${process.versions.node}, real step-ca`,
    `${seconds} s a side and round`,
  ].join('; ')
}
