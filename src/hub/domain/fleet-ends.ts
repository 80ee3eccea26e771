// When the certificates in use end, and when their agents are expected to renew them, in equal parts of the time to come.
// docs/protocol.md OVW.

import type { CertificateState } from '../../protocol/admin/certificados.ts'
import { decideState, renewalWindowMs } from './late-renewal.ts'

/** So many certificates that end in the same quarter of an hour, have lived for as many minutes, and are in the same state. */
export interface EndCount {
  /** When the quarter begins. */
  readonly quarterMs: number
  /** Whole minutes; `wholeLifeMinutes` stands for that and whatever is longer. */
  readonly lifeMinutes: number
  readonly state: CertificateState
  readonly count: number
}

export type EndGroup = Omit<EndCount, 'state'>

export interface EndRule {
  readonly nowMs: number
  readonly thresholdMs: number
}

export const QUARTER_MS: number = 15 * 60_000
const MINUTE_MS = 60_000

/** The state of all of the group; undefined where they may be in several. */
export function findCommonState(group: GroupKey, rule: EndRule): CertificateState | undefined {
  const { mostUrgent, leastUrgent } = findExtremes(group, rule)
  return mostUrgent === leastUrgent ? mostUrgent : undefined
}

/** Whether all of the group are late, ended ones among them, or none; undefined where some may be. */
export function findCommonLateness(group: GroupKey, rule: EndRule): boolean | undefined {
  const { mostUrgent, leastUrgent } = findExtremes(group, rule)
  const isLate = isLateState(mostUrgent)
  return isLate === isLateState(leastUrgent) ? isLate : undefined
}

type GroupKey = Pick<EndGroup, 'quarterMs' | 'lifeMinutes'>

function isLateState(state: CertificateState): boolean {
  return state === 'late' || state === 'expired'
}

function findExtremes(
  { quarterMs, lifeMinutes }: GroupKey,
  { nowMs, thresholdMs }: EndRule,
): { readonly mostUrgent: CertificateState; readonly leastUrgent: CertificateState } {
  const windowOf = (minutes: number): number => renewalWindowMs(minutes * MINUTE_MS, thresholdMs)
  const windows = { least: windowOf(lifeMinutes - 1), most: windowOf(lifeMinutes + 1) }
  const last = quarterMs + QUARTER_MS - 1
  return {
    mostUrgent: decideState({ notAfterMs: quarterMs, windowMs: windows.most }, nowMs),
    leastUrgent: decideState({ notAfterMs: last, windowMs: windows.least }, nowMs),
  }
}

/** Whether their lives are so long that the threshold says when each of them is renewed. */
export function hasWholeWindow(
  { lifeMinutes }: GroupKey,
  rule: Pick<EndRule, 'thresholdMs'>,
): boolean {
  return lifeMinutes >= wholeLifeMinutes(rule)
}

/** From which life on it is so: how much longer a group has lived says nothing more about it. */
export function wholeLifeMinutes({ thresholdMs }: Pick<EndRule, 'thresholdMs'>): number {
  return Math.ceil((3 * thresholdMs) / MINUTE_MS) + 1
}

export const END_HORIZONS = {
  '6h': { hours: 6, bucketMs: QUARTER_MS },
  '48h': { hours: 48, bucketMs: 2 * QUARTER_MS },
  '7d': { hours: 168, bucketMs: 4 * QUARTER_MS },
} as const
export type EndHorizon = keyof typeof END_HORIZONS

export interface EndBucket extends Readonly<Record<CertificateState, number>> {
  /** How many certificates are expected to be renewed then, for the first time from now. */
  readonly renewals: number
}

export interface FleetEnds {
  readonly bucketMs: number
  /** When the first one begins: now is in it. */
  readonly startMs: number
  readonly buckets: readonly EndBucket[]
  /** Of all that `counts` have, also of those that end before or after the buckets. */
  readonly totals: Readonly<Record<CertificateState, number>>
}

/** The last end that a bucket tells of, by itself or by a renewal in it. */
export function endsUntilMs(horizon: EndHorizon, { nowMs, thresholdMs }: EndRule): number {
  return bucketsEndMs(horizon, nowMs) + Math.max(0, thresholdMs)
}

export function describeEnds(
  counts: readonly EndCount[],
  horizon: EndHorizon,
  { nowMs, thresholdMs }: EndRule,
): FleetEnds {
  const { bucketMs } = END_HORIZONS[horizon]
  const startMs = bucketsStartMs(horizon, nowMs)
  const size = (bucketsEndMs(horizon, nowMs) - startMs) / bucketMs
  const buckets = Array.from({ length: size }, () => ({ ...noEnds(), renewals: 0 }))
  const totals = noEnds()
  const bucketAt = (atMs: number) => buckets[Math.floor((atMs - startMs) / bucketMs)]
  for (const { quarterMs, lifeMinutes, state, count } of counts) {
    totals[state] += count
    const ending = bucketAt(quarterMs)
    if (ending !== undefined) ending[state] += count
    // Who is late has stopped to do what is expected.
    if (state === 'expired' || state === 'late') continue
    const windowMs = renewalWindowMs((lifeMinutes + 0.5) * MINUTE_MS, thresholdMs)
    const renewing = bucketAt(Math.max(nowMs, quarterMs + QUARTER_MS / 2 - windowMs))
    if (renewing !== undefined) renewing.renewals += count
  }
  return { bucketMs, startMs, buckets, totals }
}

function bucketsStartMs(horizon: EndHorizon, nowMs: number): number {
  const { bucketMs } = END_HORIZONS[horizon]
  return Math.floor(nowMs / bucketMs) * bucketMs
}

/** One more than the horizon has: the first has begun already. */
function bucketsEndMs(horizon: EndHorizon, nowMs: number): number {
  const { hours, bucketMs } = END_HORIZONS[horizon]
  return bucketsStartMs(horizon, nowMs) + hours * 3_600_000 + bucketMs
}

function noEnds(): Record<CertificateState, number> {
  return { expired: 0, late: 0, renewing: 0, fresh: 0 }
}
