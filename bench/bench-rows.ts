// The rows of the bench, in the order in which they run.

import { invariant } from '../src/platform/errors.ts'
import { measureBeside } from './beside.ts'
import { CA_ROWS } from './ca-rows.ts'
import { measureCold } from './cold.ts'
import type { Figure } from './figure.ts'
import { measureHeldStreams } from './held-streams.ts'
import { measureMemory } from './memory.ts'
import { PORT_ROWS } from './port-rows.ts'
import { measurePushLatency } from './push-latency.ts'
import { measureRow } from './row.ts'
import { startSealedBlob } from './sealed-blob.ts'
import { measureSeveralHubs } from './several-hubs.ts'
import { measureSoak } from './soak.ts'
import { measureStarts } from './starts.ts'
import { measureSteps } from './steps.ts'
import { measureTree } from './tree-row.ts'
import { measureVerify } from './verify.ts'
import type { WorldOptions } from './world.ts'

/** How much of it. */
export interface Effort {
  /** Of CPU, of one side of one round. */
  readonly seconds: number
  /** Of each agent, in a soak. */
  readonly renewals: number
  /** In a soak. */
  readonly events: number
}

export interface BenchRow {
  /** As `--only` names it. */
  readonly name: string
  /** For `--help`. */
  readonly about: string
  readonly measure: (options: WorldOptions, effort: Effort) => Promise<readonly Figure[]>
  /** It takes so long that a run without `--only` does without it. */
  readonly isAskedFor?: boolean
}

const RATE_ROWS = [...CA_ROWS, ...PORT_ROWS, { name: 'sealed-blob', start: startSealedBlob }]

export const BENCH_ROWS: readonly BenchRow[] = [
  rateRow('issue', 'certs/issue, beside the CA’s own sign'),
  rateRow('enroll', 'enrolments, beside the CA’s own sign'),
  rateRow('recover', 'recoveries, beside the CA’s own sign'),
  rateRow('handshake', 'a handshake and a manifest, beside nginx and a bare node:https'),
  rateRow('kept', 'a manifest on a kept connection, beside the same two'),
  rateRow('refused-enrolment', 'an enrolment with an unknown token, beside a bare request'),
  rateRow('event-16', 'durable events of 16 agents, beside a bare request and fdatasync'),
  rateRow('event-128', 'durable events of 128 agents, beside the same two'),
  {
    name: 'tree',
    about: 'durable events of 128 agents, beside a hub whose log has no tree',
    measure: (options, { seconds }) => measureTree(options, seconds),
  },
  rateRow('sealed-blob', 'a sealed file, beside a bare node:https'),
  {
    name: 'cold',
    about: 'the first ten seconds of a hub, beside the same hub later',
    measure: (options, { seconds }) => measureCold(options, seconds),
  },
  {
    name: 'stream-1000',
    about: 'memory and CPU of a hub that holds 1,000 streams and does nothing else',
    measure: measureHeldStreams,
  },
  {
    name: 'beside',
    about: 'what polls and events wait for beside an archive, and beside a backup',
    measure: measureBeside,
  },
  {
    name: 'several-hubs',
    about: 'two hubs that share a vault, beside one with its journal in PostgreSQL too',
    measure: (options, { seconds }) => measureSeveralHubs(options, seconds),
  },
  { name: 'verify', about: 'evento list --verify, entries a second', measure: measureVerify },
  {
    name: 'push-latency',
    about: 'from an act of the hub until an agent knows of it',
    measure: measurePushLatency,
  },
  {
    name: 'steps',
    about: 'each check of a request at the worst that a search finds',
    measure: measureSteps,
  },
  { name: 'ready', about: 'starts of hub and svc, beside a bare Node', measure: measureStarts },
  {
    name: 'memory',
    about: 'what hub and agent hold while they wait, and the hub after every kind of load',
    measure: measureMemory,
  },
  {
    name: 'soak',
    about: 'memory of hub and agents over many renewals and events; only when --only names it',
    measure: measureSoak,
    isAskedFor: true,
  },
]

function rateRow(name: string, about: string): BenchRow {
  const row = RATE_ROWS.find((candidate) => candidate.name === name)
  invariant(row, `${name} is a row of rates`)
  return {
    name,
    about,
    measure: (options, { seconds }) => measureRow(row, seconds, options),
  }
}
