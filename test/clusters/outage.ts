// How long nobody was served, as clients saw it.

import type { Operation, OperationKind } from './operation.ts'

export interface Outage {
  /** The longest time in which no write of anybody was acknowledged. */
  readonly writesMs: number
  readonly pollsMs: number
  /** The longest time in which no event of one and the same host was acknowledged. */
  readonly hostMs: number
}

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

const WRITES: ReadonlySet<OperationKind> = new Set(['event', 'token', 'enrol', 'issue', 'revoke'])

export function measureOutage(operations: readonly Operation[], span: Span): Outage {
  const served = operations.filter(({ outcome }) => outcome === 'acknowledged')
  const events = served.filter(({ kind }) => kind === 'event')
  const ofHosts = Map.groupBy(events, ({ hostname }) => hostname)
  // Others came later, or were revoked.
  const staying = [...ofHosts.values()].filter(
    (same) =>
      same.some(({ endMs }) => endMs < span.fromMs) && same.some(({ endMs }) => endMs > span.toMs),
  )
  return {
    writesMs: longestGap(
      served.filter(({ kind }) => WRITES.has(kind)),
      span,
    ),
    pollsMs: longestGap(
      served.filter(({ kind }) => kind === 'poll'),
      span,
    ),
    hostMs: Math.max(0, ...staying.map((same) => longestGap(same, span))),
  }
}

/** Between two answers, of which one at least is within the span. */
function longestGap(operations: readonly Operation[], { fromMs, toMs }: Span): number {
  const ends = operations.map(({ endMs }) => endMs).sort((one, other) => one - other)
  const before = ends.findLast((endMs) => endMs < fromMs) ?? fromMs
  const within = ends.filter((endMs) => endMs >= fromMs && endMs <= toMs)
  let longest = 0
  let last = before
  for (const endMs of [...within, toMs]) {
    longest = Math.max(longest, endMs - last)
    last = endMs
  }
  return longest
}
