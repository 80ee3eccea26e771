// `npm run reliability [-- --full] [--only ROW] [--seed N]`: one table of promises: what was tried, how often, what was
// lost. Exit 1 when any promise was broken.

import { parseArgs } from 'node:util'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { renderTable } from '../src/admin/terminal/table.ts'
import { seedFrom } from '../test/simulation/seeded-random.ts'
import type { RowResult } from './row.ts'
import { ROWS } from './rows.ts'
import { runRow } from './run-row.ts'

await runProgram('reliability', async () => {
  const { values } = parseArgs({
    options: {
      full: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      seed: { type: 'string' },
    },
  })
  const names = values.only ?? ROWS.map(({ name }) => name)
  const unknown = names.find((name) => !ROWS.some((row) => row.name === name))
  if (unknown !== undefined) {
    throw new UserError('reliability', `there is no row ${unknown}`, {
      hint: `rows: ${ROWS.map(({ name }) => name).join(', ')}`,
    })
  }
  const seed = seedFrom(values.seed)
  const setting = values.full ? 'full' : 'small'
  const progress = (text: string): void => void process.stderr.write(`reliability: ${text}\n`)
  progress(`${setting} setting, seed ${seed}`)
  const lines: string[][] = []
  for (const row of ROWS.filter(({ name }) => names.includes(name))) {
    const started = performance.now()
    const result = await runRow(row, { setting, seed, progress })
    const seconds = Math.round((performance.now() - started) / 1000)
    lines.push([row.name, row.promise, result.tried, verdictOf(result), `${seconds} s`])
    for (const broken of result.broken) progress(`${row.name}: BROKEN: ${broken}`)
    if (result.measured !== undefined) progress(`${row.name}: ${result.measured}`)
    if (result.broken.length > 0) process.exitCode = 1
  }
  process.stdout.write(renderTable(['row', 'promise', 'tried', 'lost', 'took'], lines))
  process.stdout.write(`${setting} setting, seed ${seed}, Node ${process.versions.node}\n`)
})

function verdictOf({ broken, skipped }: RowResult): string {
  if (broken.length > 0) return `BROKEN ${broken.length} times`
  return skipped === undefined ? 'nothing' : `not tried: ${skipped}`
}
