// `npm run bench -- [--only NAME] [--seconds N] [--profile DIRECTORY] [--json]`: one table of what the hub costs, as CPU time and as
// ratios to yardsticks that are measured in the same run. --profile leaves CPU profiles of the hub, which slow it a little. It fails when
// something does not work, never because something is slow.

import { availableParallelism, cpus, homedir, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureStepCa } from '../tools/install-step-ca.ts'
import { CA_ROWS } from './ca-rows.ts'
import { measureCold } from './cold.ts'
import type { Figure } from './figure.ts'
import { measureHeldStreams } from './held-streams.ts'
import { buildLoadGenerator } from './load-generator.ts'
import { measureMemory } from './memory.ts'
import { PORT_ROWS } from './port-rows.ts'
import { measurePushLatency } from './push-latency.ts'
import { renderReport } from './report.ts'
import { measureRow, type Row } from './row.ts'
import { startSealedBlob } from './sealed-blob.ts'
import { measureStarts } from './starts.ts'
import { measureSteps } from './steps.ts'
import { measureVerify } from './verify.ts'
import type { WorldOptions } from './world.ts'

type Measure = (options: WorldOptions, seconds: number) => Promise<Figure[]>

const RATE_ROWS: readonly Row[] = [
  ...CA_ROWS,
  ...PORT_ROWS,
  { name: 'sealed-blob', start: startSealedBlob },
]
const ROWS: ReadonlyMap<string, Measure> = new Map<string, Measure>([
  ...RATE_ROWS.map((row): [string, Measure] => [
    row.name,
    (options, seconds) => measureRow(row, seconds, options),
  ]),
  ['cold', measureCold],
  ['stream-1000', measureHeldStreams],
  ['verify', measureVerify],
  ['push-latency', measurePushLatency],
  ['steps', measureSteps],
  ['ready', measureStarts],
  ['memory', measureMemory],
])
const SECONDS_DEFAULT = 2

await runProgram('bench', async () => {
  const { names, seconds, profileDirectory, isJson } = parseOptions(process.argv.slice(2))
  const cacheDirectory = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'cartorio',
    'bench',
  )
  const loadProgram = buildLoadGenerator(cacheDirectory)
  await ensureStepCa()
  const [loadBefore = 0] = loadavg()
  const figures: Figure[] = []
  for (const [name, measure] of ROWS) {
    if (!names.includes(name)) continue
    process.stderr.write(`bench: ${name}\n`)
    figures.push(...(await measure({ cacheDirectory, loadProgram, profileDirectory }, seconds)))
  }
  const machine = describeMachine(seconds, loadBefore)
  process.stdout.write(
    isJson ? `${JSON.stringify({ machine, figures })}\n` : renderReport(figures, machine),
  )
})

interface Options {
  readonly names: readonly string[]
  /** Of CPU, of one side of one round. */
  readonly seconds: number
  readonly profileDirectory: string | undefined
  readonly isJson: boolean
}

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      seconds: { type: 'string' },
      profile: { type: 'string' },
      json: { type: 'boolean' },
    },
  })
  const names = values.only ?? [...ROWS.keys()]
  const unknown = names.find((name) => !ROWS.has(name))
  if (unknown !== undefined) {
    throw new UserError('bench', `there is no row ${unknown}`, {
      hint: `rows: ${[...ROWS.keys()].join(', ')}`,
    })
  }
  const seconds = Number(values.seconds ?? SECONDS_DEFAULT)
  if (!(seconds > 0 && seconds <= 60)) throw new UserError('bench', '--seconds is from 0 to 60')
  return { names, seconds, profileDirectory: values.profile, isJson: values.json === true }
}

function describeMachine(seconds: number, loadBefore: number): string {
  const [cpu] = cpus()
  return [
    `${cpu?.model ?? 'unknown CPU'}, ${availableParallelism()} cores`,
    `load ${loadBefore.toFixed(1)} before the start`,
    `Node ${process.versions.node}, real step-ca`,
    `${seconds} s of CPU a side and round`,
  ].join('; ')
}
