// Times, in the zone that was chosen; the document always holds UTC.

import { computed } from '@preact/signals'
import type { JSX } from 'preact'
import { now } from '../api/clock.ts'
import { language, zone } from '../frame/preferences.ts'
import { words } from '../words/words.ts'
import { describeDuration } from './durations.ts'
import { useOfTime } from './use-of-time.ts'

/** The clock alone of today, else with its day. */
export function Time({
  at,
  withSeconds = false,
}: {
  readonly at: string
  readonly withSeconds?: boolean
}): JSX.Element {
  const text = useOfTime(() => describeTime(at, { withSeconds }), [at, withSeconds])
  return (
    <time dateTime={at} title={describeFully(at)}>
      {text}
    </time>
  )
}

/** `in 47 min`, or `12 min ago`; it follows the hub's clock. */
export function Relative({ at }: { readonly at: string }): JSX.Element {
  const text = useOfTime(() => describeRelative(at), [at])
  return (
    <time dateTime={at} title={describeFully(at)}>
      {text}
    </time>
  )
}

export function describeRelative(at: string): string {
  const { times } = words()
  const apartMs = Date.parse(at) - now.value
  if (Math.abs(apartMs) < 1000) return times.now
  const duration = describeDuration(Math.abs(apartMs), times)
  return apartMs >= 0 ? times.in(duration) : times.ago(duration)
}

export function describeTime(
  at: string,
  { withSeconds = false }: { readonly withSeconds?: boolean } = {},
): string {
  const date = new Date(at)
  const isToday = dayOf(date) === today.value
  const clock: Intl.DateTimeFormatOptions = {
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds && { second: '2-digit' }),
  }
  return format(date, isToday ? clock : { day: 'numeric', month: 'short', ...clock })
}

/** Of UTC, whatever zone is shown. */
export function describeUtcDay(day: string): string {
  return format(new Date(day), { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

/** To the second, with the zone. */
export function describeExactly(at: string): string {
  return format(new Date(at), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'shortOffset',
  })
}

/** In a sentence: the day is said of today too. */
export function describeMoment(at: Date): string {
  return format(at, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
}

export function describeFully(at: string): string {
  return format(new Date(at), { dateStyle: 'full', timeStyle: 'long' })
}

/** `15:30–17:30` of today, else `Mon 23 02:00–02:30`. */
export function describeSpan(fromMs: number, untilMs: number): string {
  const clockOf = (ms: number): string =>
    format(new Date(ms), { hour: '2-digit', minute: '2-digit' })
  const isOn = (ms: number, other: number): boolean =>
    dayOf(new Date(ms)) === dayOf(new Date(other))
  const dayOn = (ms: number, other: number): string =>
    isOn(ms, other) ? '' : `${dayLabel(new Date(ms).toISOString())} `
  return `${dayOn(fromMs, now.value)}${clockOf(fromMs)}–${dayOn(untilMs, fromMs)}${clockOf(untilMs)}`
}

/** The zone of the browser, as its switch names it: `Sao Paulo`. */
export function nameOfZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone
}

/** Of the hub's clock; it is formatted once for all that is shown. */
const today = computed(() => dayOf(new Date(now.value)))

function dayOf(date: Date): string {
  return format(date, { dateStyle: 'short' })
}

function format(date: Date, options: Intl.DateTimeFormatOptions): string {
  const tag = language.value === 'en' ? 'en-GB' : language.value
  const isUtc = zone.value === 'utc'
  const key = `${tag} ${isUtc} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known.format(date)
  const made = new Intl.DateTimeFormat(tag, { ...options, ...(isUtc && { timeZone: 'UTC' }) })
  formats.set(key, made)
  return made.format(date)
}

/** Those in use: making one takes longer than all else that a cell of a table needs. */
const formats = new Map<string, Intl.DateTimeFormat>()
const countFormats = new Map<string, Intl.NumberFormat>()

export function formatCount(count: number): string {
  const known = countFormats.get(language.value) ?? new Intl.NumberFormat(language.value)
  countFormats.set(language.value, known)
  return known.format(count)
}

/** How far the zone that was chosen is before UTC at this time. */
export function zoneOffsetMs(ms: number): number {
  return zone.value === 'utc' ? 0 : new Date(ms).getTimezoneOffset() * -60_000
}

/** What a mark of an axis may say; which of it, the picture decides. */
export function describeMark(ms: number): {
  readonly day: string
  readonly clock: string
  readonly withDay: string
} {
  const date = new Date(ms)
  const clock = format(date, { hour: '2-digit', minute: '2-digit' })
  return { day: dayOf(date), clock, withDay: `${dayLabel(date.toISOString())} ${clock}` }
}

/** `Mon 23`. */
export function dayLabel(at: string): string {
  return format(new Date(at), { weekday: 'short', day: 'numeric' })
}
