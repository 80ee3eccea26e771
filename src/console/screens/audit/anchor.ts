// What this browser keeps of the log: where its last check ended, so that the next one goes on from there, and a log that was rewritten
// meanwhile is found out. It belongs to the browser, and stays when somebody signs out.

import { fromBase64 } from '../../../audit/browser/bytes.ts'
import type { LogPlace } from '../../../audit/browser/follow-records.ts'
import type { DayCount } from './day-counts.ts'

export interface Anchor {
  /** Of the log, as the hub said it then. */
  readonly key: string
  readonly place: LogPlace
  /** When it was kept, by the clock that the page shows. */
  readonly keptAt: string
  /** When each entry until here was last computed from the first one on. */
  readonly wholeAt: string
  readonly days: readonly DayCount[]
}

const KEY = 'cartorio.anchor'
const DAYS_MAX = 400
const HASH = /^[0-9a-f]{64}$/

export function readAnchor(): Anchor | undefined {
  const text = localStorage.getItem(KEY)
  return text === null ? undefined : parseAnchor(text)
}

export function keepAnchor(anchor: Anchor): void {
  localStorage.setItem(KEY, JSON.stringify(anchor))
}

export function forgetAnchor(): void {
  localStorage.removeItem(KEY)
}

/** Undefined for what no check has kept: another version may have, or a person. */
export function parseAnchor(text: string): Anchor | undefined {
  const { key, place, keptAt, wholeAt, days } = (parseJson(text) ?? {}) as Partial<Anchor>
  if (typeof key !== 'string' || !isPlace(place) || !isTime(keptAt) || !isTime(wholeAt)) {
    return undefined
  }
  const known = Array.isArray(days) ? days.slice(-DAYS_MAX).filter(isDayCount) : []
  return { key, place, keptAt, wholeAt, days: known }
}

function isPlace(value: unknown): value is LogPlace {
  const { seq, hash, timestamp, peaks } = (value ?? {}) as Partial<LogPlace>
  return (
    Number.isSafeInteger(seq) &&
    Number(seq) > 0 &&
    typeof hash === 'string' &&
    HASH.test(hash) &&
    isTime(timestamp) &&
    Array.isArray(peaks) &&
    peaks.length <= 53 &&
    peaks.every((peak) => typeof peak === 'string' && fromBase64(peak)?.length === 32)
  )
}

function isDayCount(value: unknown): value is DayCount {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [day, count] = value as unknown[]
  return typeof day === 'string' && isTime(day) && Number.isSafeInteger(count)
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
