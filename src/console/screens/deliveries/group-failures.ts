// What failed, by its reason. The hub's summary groups by the first characters of what a host said; below the first line is what a command
// printed, which differs from host to host.

import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'

type Failures = AdminFleetSummary['failures'][number]

export interface FailureGroup {
  readonly status: Failures['status']
  /** The first line. */
  readonly reason: string
  readonly count: number
  readonly example: Failures['example']
  /** The hub's summary cuts long reasons: the example has the whole line. */
  readonly isCut: boolean
}

/** As the hub cuts them. */
const REASON_CHARACTERS = 200

/** The largest first; what the hosts said before what the hub refuses. */
export function groupFailures(failures: readonly Failures[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const { status, reason, count, example } of failures) {
    const line = firstLine(reason)
    const key = `${status} ${line}`
    const known = groups.get(key)
    groups.set(key, {
      status,
      reason: line,
      count: count + (known?.count ?? 0),
      example: known?.example ?? example,
      // Never shorter than the hub counts: one line too many is read at worst.
      isCut: line.length >= REASON_CHARACTERS,
    })
  }
  return [...groups.values()].toSorted(
    (a, b) => Number(b.status === 'falhou') - Number(a.status === 'falhou') || b.count - a.count,
  )
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
