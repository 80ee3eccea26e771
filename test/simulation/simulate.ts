// `npm run simulate`: histories of a hub, its agents and their faults. `--help` says how to ask for it.

import { HistoryFailure, type HubCount, openWorkshop, runHistory } from './history/run-history.ts'
import { Tally } from './history/tally.ts'
import { UserError } from '../../src/platform/errors.ts'
import { runProgram } from '../../src/platform/program.ts'
import { parseCommandOptions } from '../../tools/command-options.ts'
import { seedFrom } from './seeded-random.ts'

const MINUTE_MS = 60_000
const REPORT_INTERVAL_MS = MINUTE_MS

const HELP = `Usage: npm run simulate -- [options]

Histories of a hub, or of two that share a vault, of its agents and their faults, each
decided by its seed.

Options:
  --minutes N         new histories for so long (default: 1)
  --seed S            begins with this one; without --minutes it tells that history, and no other
  --hubs 1|2          so many hubs in each history (default: the seed decides)
  -h, --help          print this

Exit status: 0 when no history was wrong, else 1.

Examples:
  npm run simulate -- --minutes 10
  npm run simulate -- --minutes 10 --hubs 2
  npm run simulate -- --seed 406473314
`

await runProgram('simulate', async () => {
  const values = parseCommandOptions({
    name: 'simulate',
    args: process.argv.slice(2),
    options: { minutes: { type: 'string' }, seed: { type: 'string' }, hubs: { type: 'string' } },
    help: HELP,
  })
  if (values === undefined) return
  const seed = seedFrom(values.seed)
  const hubs = parseHubs(values.hubs)
  if (values.minutes === undefined && values.seed !== undefined) await tellOne(seed, hubs)
  else await runMany(seed, hubs, parseMinutes(values.minutes ?? '1') * MINUTE_MS)
})

async function tellOne(seed: number, hubs: HubCount | undefined): Promise<void> {
  await using workshop = await openWorkshop()
  const tally = new Tally()
  tally.add(await runHistory(workshop, seed, { hubs, onLine: say }))
  say(tally.summarise())
  for (const line of tally.listFaults()) say(line)
}

async function runMany(
  firstSeed: number,
  hubs: HubCount | undefined,
  durationMs: number,
): Promise<void> {
  await using workshop = await openWorkshop()
  const tally = new Tally()
  const failed: number[] = []
  const startMs = performance.now()
  let reportedMs = startMs
  say(`seeds from ${firstSeed}`)
  for (let seed = firstSeed; performance.now() - startMs < durationMs; seed += 1) {
    try {
      tally.add(await runHistory(workshop, seed, { hubs }))
    } catch (error) {
      if (!(error instanceof HistoryFailure)) throw error
      failed.push(seed)
      say(error.message)
    }
    if (performance.now() - reportedMs < REPORT_INTERVAL_MS) continue
    reportedMs = performance.now()
    say(tally.summarise())
  }
  say(tally.summarise())
  for (const line of tally.listFaults()) say(line)
  if (failed.length === 0) return
  say(`wrong: ${failed.join(', ')}; regression-seeds.txt keeps those that found something`)
  process.exitCode = 1
}

function parseHubs(text: string | undefined): HubCount | undefined {
  if (text === undefined) return undefined
  if (text === '1' || text === '2') return Number(text) as HubCount
  throw new UserError('hubs_invalid', `--hubs is neither 1 nor 2: ${text}`)
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (minutes > 0 && Number.isFinite(minutes)) return minutes
  throw new UserError('minutes_invalid', `--minutes is not a number above 0: ${text}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
