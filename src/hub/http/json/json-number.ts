// Whether a number of JSON survives being read as a double and written as JavaScript writes it. docs/protocol.md EVT-12.

/** A double tells all decimals of so few digits apart, within its ordinary range: DBL_DIG of C. */
const SAFE_DIGITS = 15
/** JavaScript never writes more. */
const DIGITS_MAX = 17
/** Powers of ten that are far from the ends of that range, 1e-308 and 1e308. */
const ORDINARY_POWER_MAX = 290

const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const CAPITAL_E = 0x45
const SMALL_E = 0x65

/** The first character from `start` on that is not of the number. */
export function endOfNumber(text: string, start: number): number {
  let at = start
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1
  return at
}

/** The number is that from `start` to `end`. Only one that is nearly lost is worth the price of being read and written. */
export function survives(text: string, start: number, end: number): boolean {
  const { first, last, count, power } = measure(text, start, end)
  if (count === 0) return true
  if (count > DIGITS_MAX) return false
  const isOrdinary = Math.abs(power) <= ORDINARY_POWER_MAX
  if (isOrdinary && count <= SAFE_DIGITS) return true
  const written = String(Number(text.slice(start, end)))
  const after = measure(written, 0, written.length)
  return (
    power === after.power &&
    digitsOf(text, first, last) === digitsOf(written, after.first, after.last)
  )
}

/** A number as its digits without the zeros around them, times a power of ten. `-1.50e3` and `1500` are the same but for the sign. */
interface Measured {
  /** Where the first and the last of the digits are, of `count` in all. */
  readonly first: number
  readonly last: number
  readonly count: number
  readonly power: number
}

function measure(text: string, start: number, end: number): Measured {
  let first = -1
  let last = -1
  let point = -1
  let at = start
  for (; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (code === SMALL_E || code === CAPITAL_E) break
    if (code === POINT) point = at
    else if (code > ZERO && code <= NINE) {
      last = at
      if (first === -1) first = at
    }
  }
  if (first === -1) return { first, last, count: 0, power: 0 }
  const exponent = at < end ? Number(text.slice(at + 1, end)) : 0
  const unitsAt = point === -1 ? at : point
  const power = exponent + unitsAt - last - (last < unitsAt ? 1 : 0)
  const count = last - first + (first < point && point < last ? 0 : 1)
  return { first, last, count, power }
}

function digitsOf(text: string, first: number, last: number): string {
  return text.slice(first, last + 1).replace('.', '')
}

function isOfNumber(code: number): boolean {
  return (
    (code >= ZERO && code <= NINE) ||
    code === POINT ||
    code === MINUS ||
    code === PLUS ||
    code === SMALL_E ||
    code === CAPITAL_E
  )
}
