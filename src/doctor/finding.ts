// What a check says: that all is well, what is wrong and what to do about it, or that it could not look.

import { formatDurationMs } from '../platform/durations.ts'

/**
 * In the order of how bad it is. `skipped`: it is not for this machine, or another finding says why; `unknown`: it would be, and
 * something kept the check from it, so nobody knows. docs/protocol.md DOC-2.
 */
export const FINDING_STATUSES = ['ok', 'skipped', 'unknown', 'warning', 'error'] as const
export type FindingStatus = (typeof FINDING_STATUSES)[number]

export interface Finding {
  readonly status: FindingStatus
  /** What is so. */
  readonly message: string
  /** Why that matters. */
  readonly why?: string
  /** What to do, in words. */
  readonly remedy?: string
  /** What to type; each works as it is. */
  readonly commands?: readonly string[]
}

export type Advice = Required<Pick<Finding, 'why' | 'remedy'>> & Pick<Finding, 'commands'>

export function ok(message: string): Finding {
  return { status: 'ok', message }
}

export function skipped(message: string): Finding {
  return { status: 'skipped', message }
}

export function warning(message: string, advice: Advice): Finding {
  return { status: 'warning', message, ...advice }
}

export function fault(message: string, advice: Advice): Finding {
  return { status: 'error', message, ...advice }
}

/** Thrown by what looks: why it cannot be known. */
export class Unchecked extends Error {
  override name = 'Unchecked'
  /** Nothing is amiss: there is nothing to look at from here. */
  readonly isExpected: boolean
  constructor(reason: string, options: { readonly isExpected?: boolean } = {}) {
    super(reason)
    this.isExpected = options.isExpected ?? false
  }
}

export function worstOf(findings: readonly Pick<Finding, 'status'>[]): FindingStatus {
  const worst = Math.max(0, ...findings.map(({ status }) => FINDING_STATUSES.indexOf(status)))
  return FINDING_STATUSES[worst] ?? 'error'
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `41.2 GiB`. */
export function showBytes(bytes: number): string {
  let value = bytes
  let at = 0
  while (value >= 1024 && at < UNITS.length - 1) {
    value /= 1024
    at += 1
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[at]}`
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** To about two digits: `12d`, `5h 20m`, `8s`. */
export function showAbout(durationMs: number): string {
  const size =
    durationMs >= 3 * DAY_MS
      ? DAY_MS
      : durationMs >= DAY_MS
        ? HOUR_MS
        : durationMs >= HOUR_MS
          ? MINUTE_MS
          : 1000
  return formatDurationMs(Math.floor(Math.max(0, durationMs) / size) * size)
}
