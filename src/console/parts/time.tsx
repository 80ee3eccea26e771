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

export function describeFully(at: string): string {
  return format(new Date(at), { dateStyle: 'full', timeStyle: 'long' })
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

/** `Mon 23`. */
export function dayLabel(at: string): string {
  return format(new Date(at), { weekday: 'short', day: 'numeric' })
}
