// `npm run simulate -- --minutes 10`: histories of new seeds for so long. `--seed S` begins with that one; without
// `--minutes` it tells that history, and that one only. Exit 1 when one was wrong.

import { HistoryFailure, openWorkshop, runHistory } from './history/run-history.ts'
import { Tally } from './history/tally.ts'
import { parseArgs } from 'node:util'
import { UserError } from '../../src/platform/errors.ts'
import { runProgram } from '../../src/platform/program.ts'
import { seedFrom } from './seeded-random.ts'

const MINUTE_MS = 60_000
const REPORT_INTERVAL_MS = MINUTE_MS

await runProgram('simulate', async () => {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, seed: { type: 'string' } },
  })
  const seed = seedFrom(values.seed)
  if (values.minutes === undefined && values.seed !== undefined) await tellOne(seed)
  else await runMany(seed, parseMinutes(values.minutes ?? '1') * MINUTE_MS)
})

async function tellOne(seed: number): Promise<void> {
  await using workshop = await openWorkshop()
  const tally = new Tally()
  tally.add(await runHistory(workshop, seed, { onLine: say }))
  say(tally.summarise())
  for (const line of tally.listFaults()) say(line)
}

async function runMany(firstSeed: number, durationMs: number): Promise<void> {
  await using workshop = await openWorkshop()
  const tally = new Tally()
  const failed: number[] = []
  const startMs = performance.now()
  let reportedMs = startMs
  say(`seeds from ${firstSeed}`)
  for (let seed = firstSeed; performance.now() - startMs < durationMs; seed += 1) {
    try {
      tally.add(await runHistory(workshop, seed))
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

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (minutes > 0 && Number.isFinite(minutes)) return minutes
  throw new UserError('minutes_invalid', `--minutes is not a number above 0: ${text}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
