// `npm run cluster`: hubs on a PostgreSQL that fails over, with faults, under load, judged. `--help` says how to ask for it.

import { UserError } from '../../src/platform/errors.ts'
import { runProgram } from '../../src/platform/program.ts'
import { parseCommandOptions } from '../../tools/command-options.ts'
import { seedFrom } from '../simulation/seeded-random.ts'
import { FAULTS, type FaultName } from './faults.ts'
import { reportJudgement } from './judgement.ts'
import type { Outage } from './outage.ts'
import { REPLICATION_MODES, type ReplicationMode } from './reference-settings.ts'
import { type Trial, type TrialOptions, tryFault } from './try-fault.ts'

const HELP = `Usage: npm run cluster -- --fault FAULT [options]

Starts three PostgreSQL under Patroni with three etcd, as docs/high-availability.md sets them up, each on a machine of its own made of
namespaces, and hubs that share a journal there. Hosts poll, send events, renew, enrol, hold streams and are revoked. Then the fault strikes.
A checker compares what clients were told with what the journal has. Prints how long nobody was served, and what is wrong.
Needs root, Debian's postgresql and etcd-server, python3-venv, and a way to PyPI for Patroni.

Options:
  --fault FAULT       what happens
  --hubs N            1 to 5 hubs (default: 1)
  --replication MODE  ${REPLICATION_MODES.join(', ')} (default: strict)
  --times N           strikes of the fault (default: 1)
  --seconds N         load before and after each (default: 5)
  --postgresql DIR    where postgres, initdb and pg_rewind are (default: Debian's newest)
  --etcd FILE         another etcd than Debian's
  --seed S            decides what is left to chance
  -h, --help          print this

Faults:
${Object.entries(FAULTS)
  .map(([name, { text }]) => `  ${name.padEnd(20)}${text}\n`)
  .join('')}
It reads the sources until it has judged: where somebody works on them, run it in a clone.

Exit status: 0 when nothing is wrong, else 1. With --replication async, --fault lag loses writes: the checker finds them.

Examples:
  npm run cluster -- --fault leader-process --times 3
  npm run cluster -- --fault lag --replication async
`

await runProgram('cluster', async () => {
  const values = parseCommandOptions({
    name: 'cluster',
    args: process.argv.slice(2),
    options: {
      fault: { type: 'string' },
      hubs: { type: 'string', default: '1' },
      replication: { type: 'string', default: 'strict' },
      times: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '5' },
      postgresql: { type: 'string' },
      etcd: { type: 'string' },
      seed: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return
  const options: TrialOptions = {
    fault: parseWord('fault', values.fault, Object.keys(FAULTS)) as FaultName,
    hubs: parseCount('hubs', values.hubs, 5),
    replication: parseWord('replication', values.replication, REPLICATION_MODES) as ReplicationMode,
    times: parseCount('times', values.times, 1000),
    seconds: parseCount('seconds', values.seconds, 3600),
    programs: values.postgresql,
    etcd: values.etcd,
    seed: seedFrom(values.seed),
    progress: (text) => void process.stderr.write(`cluster: ${text}\n`),
  }
  const { fault, hubs, replication, seed } = options
  say(`${fault}, ${hubs} ${hubs === 1 ? 'hub' : 'hubs'}, ${replication}, seed ${seed}`)
  report(await tryFault(options))
})

function report(trial: Trial): void {
  const { outages } = trial
  for (const [name, pick] of [
    ['without writes', ({ writesMs }: Outage) => writesMs],
    ['without polls', ({ pollsMs }: Outage) => pollsMs],
    ['without an event of one host', ({ hostMs }: Outage) => hostMs],
  ] as const) {
    const seconds = outages.map((outage) => (pick(outage) / 1000).toFixed(1))
    say(`${name}: ${seconds.join(', ')} s; median ${median(outages.map(pick)).toFixed(1)} s`)
  }
  reportJudgement(trial, say)
}

function median(valuesMs: readonly number[]): number {
  const sorted = valuesMs.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  const [below = 0, above = 0] = [Math.floor(middle), Math.ceil(middle)].map((at) => sorted[at])
  return (below + above) / 2000
}

function parseWord(option: string, text: string | undefined, words: readonly string[]): string {
  if (text !== undefined && words.includes(text)) return text
  throw new UserError('usage', `--${option} is one of ${words.join(', ')}`, {
    hint: 'npm run cluster -- --help',
  })
}

function parseCount(option: string, text: string, max: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= max) return count
  throw new UserError('usage', `--${option} is no number from 1 to ${max}: ${text}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
