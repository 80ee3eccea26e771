// What `npm run bench` is asked for, and how to ask.

import { UserError } from '../src/platform/errors.ts'
import { parseCommandOptions } from '../tools/command-options.ts'
import type { BenchRow, Effort } from './bench-rows.ts'

export interface BenchOptions extends Effort {
  readonly names: readonly string[]
  readonly profileDirectory: string | undefined
  readonly isJson: boolean
}

const DEFAULTS = { seconds: 2, renewals: 2000, events: 200_000 } as const

/** Undefined when help was all that was asked for. */
export function parseBenchOptions(
  args: readonly string[],
  rows: readonly BenchRow[],
): BenchOptions | undefined {
  const values = parseCommandOptions({
    name: 'bench',
    args,
    options: {
      only: { type: 'string', multiple: true },
      seconds: { type: 'string' },
      renewals: { type: 'string' },
      events: { type: 'string' },
      profile: { type: 'string' },
      json: { type: 'boolean' },
    },
    help: renderHelp(rows),
  })
  if (values === undefined) return undefined
  const names = values.only ?? rows.filter((row) => !row.isAskedFor).map(({ name }) => name)
  const unknown = names.find((name) => rows.every((row) => row.name !== name))
  if (unknown !== undefined) {
    throw new UserError('bench', `there is no row ${unknown}`, {
      hint: `rows: ${rows.map(({ name }) => name).join(', ')}`,
    })
  }
  const seconds = Number(values.seconds ?? DEFAULTS.seconds)
  if (!(seconds > 0 && seconds <= 60)) throw new UserError('bench', '--seconds is from 0 to 60')
  return {
    names,
    seconds,
    renewals: parseCount('--renewals', values.renewals ?? DEFAULTS.renewals, 200),
    events: parseCount('--events', values.events ?? DEFAULTS.events, 1000),
    profileDirectory: values.profile,
    isJson: values.json === true,
  }
}

const COUNT_MAX = 10_000_000

function parseCount(option: string, value: string | number, min: number): number {
  const count = Number(value)
  if (Number.isInteger(count) && count >= min && count <= COUNT_MAX) return count
  throw new UserError('bench', `${option} is a whole number from ${min} to ${COUNT_MAX}`)
}

function renderHelp(rows: readonly BenchRow[]): string {
  return `Usage: npm run bench -- [options]

What hub and agent cost: CPU time, and memory, of a hub with a real step-ca that the bench starts for each row and removes. Each figure of CPU
time stands beside a yardstick that is measured in turn with the hub; the ratio of the two is what can be compared between machines.

Options:
  --only ROW          this row; may be given several times (default: all rows but soak)
  --seconds N         of CPU time, for each side of each round (default: ${DEFAULTS.seconds})
  --renewals N        soak: renewals of each agent (default: ${DEFAULTS.renewals})
  --events N          soak: events that the hub takes (default: ${DEFAULTS.events})
  --profile DIRECTORY leave CPU profiles of the hub there, which slow the hub a little
  --json              print one JSON document instead of a table
  -h, --help          print this

Rows:
${rows.map(({ name, about }) => `  ${name.padEnd(15)} ${about}\n`).join('')}
Exit status: 0 when everything was measured, however slow it is, or whatever aim is missed; 1 when something does not work.

It needs Linux and Go 1.21 or newer, and several-hubs PostgreSQL. The first run builds step-ca, which takes minutes. Ctrl-C ends it and its processes.

Examples:
  npm run bench -- --only issue --only enroll
  npm run bench -- --only memory
  npm run bench -- --only soak --renewals ${DEFAULTS.renewals}
`
}
