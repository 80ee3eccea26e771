// `npm run promotions`: a hub that is killed under load, and its standby that is promoted, many times, judged. `--help` says how to ask for it.

import { UserError } from '../../src/platform/errors.ts'
import { runProgram } from '../../src/platform/program.ts'
import { parseCommandOptions } from '../../tools/command-options.ts'
import { seedFrom } from '../simulation/seeded-random.ts'
import { reportJudgement } from './judgement.ts'
import { tryPromotions } from './try-promotions.ts'

const HELP = `Usage: npm run promotions -- [options]

Starts a hub and its standby (SVC_STANDBY=required). Hosts poll, send events, renew, enrol, hold streams and are revoked. The hub is killed
at some moment, the standby promoted, the old hub started again, which must serve nobody, and made the standby of the new one. At the end the
hub is killed once more, and what clients were told is compared with what the promoted standby has.

Options:
  --times N       promotions (default: 3)
  --full          100 promotions
  --seed S        decides what is left to chance
  -h, --help      print this

Exit status: 0 when nothing is wrong, else 1.

Examples:
  npm run promotions
  npm run promotions -- --full --seed 7
`

await runProgram('promotions', async () => {
  const values = parseCommandOptions({
    name: 'promotions',
    args: process.argv.slice(2),
    options: {
      times: { type: 'string', default: '3' },
      full: { type: 'boolean', default: false },
      seed: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return
  const times = values.full ? 100 : Number(values.times)
  if (!Number.isInteger(times) || times < 1 || times > 10_000) {
    throw new UserError('usage', `--times ${values.times} is not a number from 1 to 10000`)
  }
  const seed = seedFrom(values.seed)
  say(`${times} promotions, seed ${seed}`)
  const trial = await tryPromotions({
    times,
    seed,
    loadMs: 2000,
    progress: (text) => void process.stderr.write(`promotions: ${text}\n`),
  })
  const sorted = trial.outagesMs.toSorted((one, other) => one - other)
  const seconds = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  say(
    `without writes: ${seconds.map((ms = 0) => (ms / 1000).toFixed(1)).join(', ')} s (least, median, most)`,
  )
  reportJudgement(trial, say)
})

function say(text: string): void {
  process.stdout.write(`promotions: ${text}\n`)
}
