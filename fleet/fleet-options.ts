// What `npm run fleet` is asked for.

import { UserError } from '../src/platform/errors.ts'
import { parseCommandOptions } from '../tools/command-options.ts'

const STORMS = ['restart', 'renewal', 'ca-outage', 'rollout'] as const
export type Storm = (typeof STORMS)[number]
/** What a fleet has is taken from all of its agents at once. */
export type AgentStorm = Exclude<Storm, 'rollout'>
const AUTHORITIES = ['svc-ca', 'step-ca'] as const
export type AuthorityName = (typeof AUTHORITIES)[number]

export interface FleetOptions {
  /** Enrolled agents, a step each. */
  readonly steps: readonly number[]
  /** Of one step, from when all of its agents have been served. */
  readonly seconds: number
  readonly storm: Storm | undefined
  readonly authority: AuthorityName
  readonly pollSeconds: number
  /** Where the hub leaves a CPU profile of each of its lives, if anywhere. */
  readonly profileDirectory: string | undefined
}

const CURVE = [100, 1000, 10_000, 100_000]
const AGENTS_MAX = 1_000_000

const HELP = `Usage: npm run fleet -- [options]

A real hub, a real CA, and agents that do on the wire what svc-agent does: a curve of what they cost, or a storm and how long it took.

Options:
  --agents N          the most agents (default: 1000); the curve goes up to them in steps of ${CURVE.join(', ')}
  --alone             that step only
  --minutes M         of a step, from when all of its agents have been served (default: 1)
  --storm KIND        ${STORMS.join(', ')}: one step, all agents at once; rollout: waves that 3 % of the hosts do not bear
  --ca NAME           ${AUTHORITIES.join(' or ')} (default: svc-ca)
  --polls-seconds N   between two polls of an agent (default: 30)
  --profile DIRECTORY leave CPU profiles of the hub there, which slow the hub a little
  -h, --help          print this

Exit status: 0 when all agents were served, however slowly; 1 when one was not, or something does not work.

It needs Linux, taskset, and Go 1.21 or newer. Ctrl-C ends it and its processes.

Examples:
  npm run fleet -- --agents 10000
  npm run fleet -- --agents 3000 --storm restart
  npm run fleet -- --agents 3000 --storm rollout
`

/** Undefined when help was all that was asked for. */
export function parseFleetOptions(args: readonly string[]): FleetOptions | undefined {
  const values = parseCommandOptions({
    name: 'fleet',
    args,
    options: {
      agents: { type: 'string', default: '1000' },
      alone: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '1' },
      storm: { type: 'string' },
      ca: { type: 'string', default: 'svc-ca' },
      'polls-seconds': { type: 'string', default: '30' },
      profile: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return undefined
  const agents = parseNumber('--agents', values.agents, 1, AGENTS_MAX)
  const storm = values.storm === undefined ? undefined : oneOf('--storm', STORMS, values.storm)
  const isAlone = values.alone || storm !== undefined
  return {
    steps: isAlone ? [agents] : [...CURVE.filter((step) => step < agents), agents],
    seconds: parseNumber('--minutes', values.minutes, 0.01, 600) * 60,
    storm,
    authority: oneOf('--ca', AUTHORITIES, values.ca),
    pollSeconds: parseNumber('--polls-seconds', values['polls-seconds'], 1, 3600),
    profileDirectory: values.profile,
  }
}

function parseNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max) return value
  throw new UserError('fleet', `${option} is a number from ${min} to ${max}`)
}

function oneOf<Name extends string>(option: string, names: readonly Name[], text: string): Name {
  const name = names.find((candidate) => candidate === text)
  if (name !== undefined) return name
  throw new UserError('fleet', `${option} is one of ${names.join(', ')}`)
}
