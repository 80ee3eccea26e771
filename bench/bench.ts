// `npm run bench`: one table of what the hub costs, as CPU time and as ratios to yardsticks that are measured in the same run;
// `--help` says how to ask for it. It fails when something does not work, never because something is slow.

import { availableParallelism, cpus, homedir, loadavg } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../src/platform/program.ts'
import { ensureStepCa } from '../tools/install-step-ca.ts'
import { type BenchOptions, parseBenchOptions } from './bench-options.ts'
import { BENCH_ROWS } from './bench-rows.ts'
import type { Figure } from './figure.ts'
import { buildLoadGenerator } from './load-generator.ts'
import { renderReport } from './report.ts'

await runProgram('bench', async () => {
  const options = parseBenchOptions(process.argv.slice(2), BENCH_ROWS)
  if (options !== undefined) await measure(options)
})

async function measure(options: BenchOptions): Promise<void> {
  const { names, profileDirectory, isJson } = options
  const cacheDirectory = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'cartorio',
    'bench',
  )
  const loadProgram = buildLoadGenerator(cacheDirectory)
  await ensureStepCa()
  const [loadBefore = 0] = loadavg()
  const figures: Figure[] = []
  for (const row of BENCH_ROWS.filter(({ name }) => names.includes(name))) {
    process.stderr.write(`bench: ${row.name}\n`)
    figures.push(...(await row.measure({ cacheDirectory, loadProgram, profileDirectory }, options)))
  }
  const machine = describeMachine(options.seconds, loadBefore)
  process.stdout.write(
    isJson ? `${JSON.stringify({ machine, figures })}\n` : renderReport(figures, machine),
  )
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
