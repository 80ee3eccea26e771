// What `npm run fleet` is asked for.

import { parseArgs } from 'node:util'
import { UserError } from '../src/platform/errors.ts'

const STORMS = ['restart', 'renewal', 'ca-outage'] as const
export type Storm = (typeof STORMS)[number]
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

export function parseFleetOptions(args: readonly string[]): FleetOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      agents: { type: 'string', default: '1000' },
      alone: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '1' },
      storm: { type: 'string' },
      ca: { type: 'string', default: 'svc-ca' },
      'polls-seconds': { type: 'string', default: '30' },
      profile: { type: 'string' },
    },
  })
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
