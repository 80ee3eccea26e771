// Finds what JSON.parse accepts and the hub refuses. One walk over the text, whatever its content: a body of numbers costs
// no more than a body of letters. docs/protocol.md EVT-12, LIM-4.

import type { JsonRoom } from './json-room.ts'
import { endOfNumber, survives } from './json-number.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** Why the hub refuses a text although it is JSON; undefined when it accepts the text. */
export function findJsonFault(text: string, depthMax: number): string | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth += 1
      if (depth > depthMax) return `deeper than ${depthMax} levels`
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) {
      depth -= 1
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at)
      if (!survives(text, at, end)) return 'a number with more digits than a double keeps'
      at = end - 1
    }
  }
  return undefined
}

/** Why a text, JSON or not, is not even parsed; undefined when it may be. It is read no further than it takes to know. */
export function findJsonExcess(
  text: string,
  { stringsMax, outsideMax }: JsonRoom,
): string | undefined {
  let strings = 0
  let outside = 0
  let from = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', from)) {
    strings += 1
    outside += at - from
    if (strings > stringsMax) return `more than ${stringsMax} names and strings`
    if (outside > outsideMax) break
    from = endOfString(text, at) + 1
  }
  // What is left after the last string, or after it was too much already.
  return outside + Math.max(0, text.length - from) > outsideMax
    ? `more than ${outsideMax} characters outside of strings`
    : undefined
}

/** Where its closing quote is, the first one after an even number of backslashes; the end of the text where there is no such quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let at = end
    while (text.charCodeAt(at - 1) === BACKSLASH) at -= 1
    if ((end - at) % 2 === 0) return end
  }
  return text.length
}
