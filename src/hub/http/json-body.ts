// JSON bodies: UTF-8, bounded in depth, and with no number that would come out changed when it is written again.

import { RequestRefusal } from './error-response.ts'

/** What the stack has room for, here and where the value is written again, when the limit is lifted. */
const STACK_DEPTH_MAX = 1000

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws a RequestRefusal: `json_invalid` when it is not JSON, `request_invalid` when it is too deep or loses digits. */
export function parseJsonBody(body: Uint8Array, depthMax: number): unknown {
  const text = decodeUtf8(body)
  const value = parseJson(text)
  const levelsMax = Math.min(depthMax, STACK_DEPTH_MAX)
  if (depthOf(value, levelsMax + 1) > levelsMax) {
    throw new RequestRefusal('request_invalid', `deeper than ${levelsMax} levels`)
  }
  // Only a long run of digits or an exponent can lose anything; nearly no body has one.
  if (/(?:^|[:,[])\s*-?(?:\d[\d.]{15}|\d[\d.]*[eE])/.test(text)) refuseLossyNumbers(text)
  return value
}

function decodeUtf8(body: Uint8Array): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new RequestRefusal('json_invalid', 'not UTF-8')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestRefusal('json_invalid', 'not JSON')
  }
}

/** The depth of nested arrays and objects, counted no further than `limit`. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null || limit === 0) return 0
  let deepest = 0
  for (const child of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(child, limit - 1))
    if (deepest === limit - 1) break
  }
  return deepest + 1
}

function refuseLossyNumbers(text: string): void {
  // The reviver's third argument (JSON.parse source text access) is newer than TypeScript's library.
  JSON.parse(text, refuseLossyNumber as (key: string, value: unknown) => unknown)
}

function refuseLossyNumber(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLossy = typeof value === 'number' && source !== undefined && !isSameNumber(source, value)
  if (isLossy) throw new RequestRefusal('request_invalid', 'a number with more digits than survive')
  return value
}

function isSameNumber(source: string, value: number): boolean {
  return Number.isFinite(value) && significantDigits(source) === significantDigits(String(value))
}

/** Digits and exponent with all zeros stripped: `1.50e3` and `1500` are the same number. */
function significantDigits(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const stripped = digits.replace(/0+$/, '')
  if (stripped === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - stripped.length)
  return `${sign}${stripped}e${power}`
}
