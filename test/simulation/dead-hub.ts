// `npm run dead-hub`: a hub that was gone for six days comes back from a backup of the day before. `--help` says how to ask for it.

import { UserError } from '../../src/platform/errors.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { runProgram } from '../../src/platform/program.ts'
import { parseCommandOptions } from '../../tools/command-options.ts'
import { liveThroughDeadHub } from './dead-hub-week.ts'
import { seedFrom } from './seeded-random.ts'

const DROPPED = 10

const HELP = `Usage: npm run dead-hub -- [options]

A fleet with certificates of 24 h whose hub dies, is gone for six days, and comes back from a backup that was a day
old. Then the same with an operator who drops ${DROPPED} entries of the log before the restore. Prints a line for each promise.

Options:
  --agents N          that enrolled before the backup (default: 200)
  --seed S            decides what is left to chance
  -h, --help          print this

Exit status: 0 when every promise is kept, else 1.

Examples:
  npm run dead-hub
  npm run dead-hub -- --agents 20 --seed 7
`

await runProgram('dead-hub', async () => {
  const values = parseCommandOptions({
    name: 'dead-hub',
    args: process.argv.slice(2),
    options: { agents: { type: 'string' }, seed: { type: 'string' } },
    help: HELP,
  })
  if (values === undefined) return
  const seed = seedFrom(values.seed)
  const agents = parseAgents(values.agents ?? '200')
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  say(`${agents} agents, seed ${seed}`)
  for (const dropped of [0, DROPPED]) {
    say(dropped === 0 ? 'restored as it was:' : `restored without ${dropped} entries of its log:`)
    const promises = await liveThroughDeadHub({ seed, agents, dropped, logging })
    for (const { text, isKept } of promises) say(`  ${isKept ? 'kept  ' : 'BROKEN'} ${text}`)
    if (promises.some(({ isKept }) => !isKept)) process.exitCode = 1
  }
})

function parseAgents(text: string): number {
  const agents = Number(text)
  if (Number.isInteger(agents) && agents >= 5 && agents <= 2000) return agents
  throw new UserError('agents_invalid', `--agents is no number from 5 to 2000: ${text}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
