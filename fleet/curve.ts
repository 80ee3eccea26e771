// One line of the curve: what an interval cost, and how its operations went.

import { renderLine } from '../src/admin/terminal/table.ts'
import type { Sample } from './driver.ts'
import { countOf, mergeLatencies, percentileMs } from './latencies.ts'
import type { Reading } from './meters.ts'

export interface Interval {
  readonly seconds: number
  /** Shares of one core. */
  readonly hubShare: number
  readonly authorityShare: number
  readonly driverShare: number
  /** Of everybody else on the machine. */
  readonly othersShare: number
  readonly operations: number
  readonly hubMsPerOperation: number | undefined
  readonly hubMegabytes: number
  /** Requests on kept connections. */
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
  readonly handshakeP99Ms: number | undefined
  readonly failures: number
}

/** Whose connections are open when they are asked. */
const ON_KEPT_CONNECTIONS = ['poll', 'event']
const HANDSHAKE = 'handshake'

export function describeInterval(before: Reading, after: Reading, sample: Sample): Interval {
  const seconds = after.atSeconds - before.atSeconds
  const { latencies, failures } = sample
  const hubBefore = before.hubPid === after.hubPid ? before.hubSeconds : 0
  const hub = Math.max(0, after.hubSeconds - hubBefore)
  // A CA that was away counts from nothing, too.
  const authority = Math.max(0, after.authoritySeconds - before.authoritySeconds)
  const driver = after.driverSeconds - before.driverSeconds
  const machine = after.machineSeconds - before.machineSeconds
  const kept = mergeLatencies(ON_KEPT_CONNECTIONS.map((name) => latencies[name] ?? []))
  const answered = Object.entries(latencies).filter(([name]) => name !== HANDSHAKE)
  const operations = countOf(answered.flatMap(([, each]) => each))
  return {
    seconds,
    hubShare: hub / seconds,
    authorityShare: authority / seconds,
    driverShare: driver / seconds,
    othersShare: Math.max(0, machine - hub - authority - driver) / seconds,
    operations,
    hubMsPerOperation: operations === 0 ? undefined : (hub * 1000) / operations,
    hubMegabytes: after.hubMegabytes,
    p50Ms: percentileMs(kept, 0.5),
    p99Ms: percentileMs(kept, 0.99),
    handshakeP99Ms: percentileMs(latencies[HANDSHAKE] ?? [], 0.99),
    failures: sumOf(Object.values(failures)),
  }
}

/** Several samples as one: what was counted adds up, what is held is what is held at the end. */
export function mergeSamples(samples: readonly Sample[]): Sample | undefined {
  const last = samples.at(-1)
  if (last === undefined) return undefined
  const names = [...new Set(samples.flatMap(({ latencies }) => Object.keys(latencies)))]
  const kinds = [...new Set(samples.flatMap(({ failures }) => Object.keys(failures)))]
  return {
    ...last,
    latencies: Object.fromEntries(
      names.map((name) => [
        name,
        mergeLatencies(samples.map(({ latencies }) => latencies[name] ?? [])),
      ]),
    ),
    failures: Object.fromEntries(
      kinds.map((kind) => [kind, sumOf(samples.map(({ failures }) => failures[kind] ?? 0))]),
    ),
    ca_at_once: Math.max(...samples.map((sample) => sample.ca_at_once)),
  }
}

const COLUMNS = [
  ['agents', 7],
  ['phase', 7],
  ['s', 4],
  ['conns', 6],
  ['streams', 7],
  ['ops/s', 6],
  ['hub %', 6],
  ['ms/op', 6],
  ['hub MB', 6],
  ['p50 ms', 7],
  ['p99 ms', 7],
  ['tls p99', 7],
  ['errors', 6],
  ['CA max', 6],
  ['CA %', 5],
  ['driver %', 8],
  ['others %', 8],
] as const

const WIDTHS = COLUMNS.map(([, width]) => width)

export function renderHead(): string {
  return renderLine(
    WIDTHS,
    COLUMNS.map(([name]) => name),
  )
}

export function renderInterval(
  agents: number,
  phase: string,
  atSeconds: number,
  interval: Interval,
  sample: Sample,
): string {
  return renderLine(WIDTHS, [
    agents,
    phase,
    atSeconds.toFixed(0),
    sample.connections,
    sample.streams,
    (interval.operations / interval.seconds).toFixed(0),
    percent(interval.hubShare),
    interval.hubMsPerOperation?.toFixed(3) ?? null,
    interval.hubMegabytes.toFixed(0),
    interval.p50Ms?.toFixed(1) ?? null,
    interval.p99Ms?.toFixed(1) ?? null,
    interval.handshakeP99Ms?.toFixed(0) ?? null,
    interval.failures,
    sample.ca_at_once,
    percent(interval.authorityShare),
    percent(interval.driverShare),
    percent(interval.othersShare),
  ])
}

export function percent(share: number): string {
  return (share * 100).toFixed(1)
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
