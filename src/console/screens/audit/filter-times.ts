// Times of filters: the URL has them in UTC, a form in the zone that is shown.

import { zone } from '../../frame/preferences.ts'
import { describeTime } from '../../parts/time.tsx'

/** What somebody wrote into the URL and is no time stays as it is: the hub says what is wrong with it. */
export function describeFilterTime(text: string): string {
  return Number.isNaN(Date.parse(text)) ? text : describeTime(text, { withSeconds: true })
}

/** For a field of a form; empty for none. */
export function toLocalTime(text: string | undefined): string {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  if (Number.isNaN(at)) return ''
  return new Date(at - offsetMs(at)).toISOString().slice(0, 19)
}

export function fromLocalTime(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc)) return undefined
  return zone.value === 'utc'
    ? new Date(asUtc).toISOString()
    : new Date(Date.parse(text)).toISOString()
}

function offsetMs(at: number): number {
  return zone.value === 'utc' ? 0 : new Date(at).getTimezoneOffset() * 60_000
}
