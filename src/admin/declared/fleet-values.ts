// What a key of a fleet file may have, read into what the wire has. Each throws a ValueFault that says what it should be.

import { formatDurationMs, parseDurationMs } from '../../platform/durations.ts'

export class ValueFault extends Error {
  override name = 'ValueFault'
}

export type ReadValue = (value: unknown) => unknown

/** In the place of a duration, of something that then has no bound of its own. */
const NONE = 'none'

export const text: ReadValue = (value) => {
  if (typeof value === 'string' && value !== '') return value
  throw new ValueFault(`should be a text${seen(value)}`)
}

/** The empty text is for none: any other text may be a selector. */
export const selectorOrNone: ReadValue = (value) => (value === '' ? null : text(value))

export const flag: ReadValue = (value) => {
  if (typeof value === 'boolean') return value
  throw new ValueFault(`should be true or false${seen(value)}`)
}

export const count: ReadValue = (value) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  throw new ValueFault(`should be a whole number from 1 on${seen(value)}`)
}

export const texts: ReadValue = (value) => {
  if (Array.isArray(value)) return value.map(text)
  throw new ValueFault(`should be a list of texts${seen(value)}`)
}

/** In whole seconds. */
export const duration: ReadValue = (value) => {
  const seconds = (typeof value === 'string' ? (parseDurationMs(value) ?? 0) : 0) / 1000
  if (Number.isInteger(seconds) && seconds >= 1) return seconds
  throw new ValueFault(`should be a duration such as "30m", "8h" or "7d"${seen(value)}`)
}

export const durationOrNone: ReadValue = (value) => {
  if (value === NONE) return null
  try {
    return duration(value)
  } catch (error) {
    throw error instanceof ValueFault
      ? new ValueFault(error.message.replace('" or "7d"', '", "7d" or "none"'))
      : error
  }
}

export function writeDuration(seconds: unknown): unknown {
  if (seconds === null) return NONE
  return typeof seconds === 'number' ? formatDurationMs(seconds * 1000) : seconds
}

/** Values as texts: `rack: 7` is a label all the same. */
export const labels: ReadValue = (value) => {
  if (!isTable(value)) throw new ValueFault(`should be a table of labels${seen(value)}`)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (typeof each === 'string') return [key, each]
      if (typeof each === 'number' || typeof each === 'boolean') return [key, String(each)]
      throw new ValueFault(`should have texts only: ${key}${seen(each)}`)
    }),
  )
}

export function oneOf(words: Readonly<Record<string, string>>): ReadValue {
  return (value) => {
    if (typeof value === 'string' && Object.hasOwn(words, value)) return words[value]
    throw new ValueFault(`should be one of ${Object.keys(words).join(', ')}${seen(value)}`)
  }
}

/** Neither a list nor one of the dates of TOML, which are objects too. */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !(value instanceof Date)
}

const SEEN_CHARACTERS_MAX = 80

function seen(value: unknown): string {
  if (value === undefined) return ''
  const shown = JSON.stringify(value) ?? typeof value
  return `, and is ${shown.length > SEEN_CHARACTERS_MAX ? `${shown.slice(0, SEEN_CHARACTERS_MAX)}…` : shown}`
}
