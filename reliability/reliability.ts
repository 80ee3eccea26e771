// `npm run reliability`: one table of promises: what was tried, how often, what was lost. `--help` says how to ask for it.

import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { renderTable } from '../src/admin/terminal/table.ts'
import { seedFrom } from '../test/simulation/seeded-random.ts'
import { parseTestStore, startTestStore } from '../test/support/test-store.ts'
import { parseCommandOptions } from '../tools/command-options.ts'
import type { RowResult } from './row.ts'
import { ROWS } from './rows.ts'
import { runRow } from './run-row.ts'

const HELP = `Usage: npm run reliability -- [options]

Tries each promise and prints one table: what was tried, how often, and what was lost.

Options:
  --full              the full setting, which takes hours in all (default: the small one)
  --only ROW          this row; may be given several times (default: all rows)
  --seed N            what chance begins with; each run prints its own
  --store STORE       embedded, or postgresql: hubs whose vaults share a journal, in Debian’s PostgreSQL (default: embedded)
  -h, --help          print this

Rows:
${ROWS.map(({ name, promise }) => `  ${name.padEnd(22)} ${promise}\n`).join('')}
Exit status: 0 when every promise held, 1 when one was broken.

Example:
  npm run reliability -- --only abuse
  npm run reliability -- --only acknowledged-writes --store postgresql
`

await runProgram('reliability', async () => {
  const values = parseCommandOptions({
    name: 'reliability',
    args: process.argv.slice(2),
    options: {
      full: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      seed: { type: 'string' },
      store: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return
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
  const store = parseTestStore(values.store)
  await using _started = await startTestStore(store)
  const run = `${setting} setting, seed ${seed}, store ${store}`
  progress(run)
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
  process.stdout.write(`${run}, Node ${process.versions.node}\n`)
})

function verdictOf({ broken, skipped }: RowResult): string {
  if (broken.length > 0) return `BROKEN ${broken.length} times`
  return skipped === undefined ? 'nothing' : `not tried: ${skipped}`
}
