// The serials that the CA says it issued: a line a serial, `#` begins a comment, blank lines do not count. docs/protocol.md EVD-10.

import { UserError } from '../platform/errors.ts'
import { printable } from '../platform/printable.ts'
import { parseSerial } from './serial-number.ts'

export const SERIAL_LIST_BYTES_MAX: number = 64 * 1024 * 1024
const SERIALS_MAX = 1_000_000
const SHOWN_CHARACTERS = 80

/** Each once, in the order of the list. Throws on the first line that has none: half a list would make certificates look missing. */
export function parseSerialList(content: Buffer | undefined, name: string): ReadonlySet<string> {
  if (content === undefined) throw tooLong(name)
  const serials = new Set<string>()
  let number = 0
  for (const line of linesOf(content)) {
    number += 1
    const text = (line.split('#')[0] ?? '').trim()
    if (text === '') continue
    const serial = parseSerial(text)
    if (serial === undefined) {
      const what = printable(text.slice(0, SHOWN_CHARACTERS))
      throw new UserError('serials_invalid', `${name}, line ${number}: ${what} is no serial`, {
        hint: 'one serial a line, in decimal or in hex; # begins a comment',
      })
    }
    serials.add(serial)
    if (serials.size > SERIALS_MAX) throw tooLong(name)
  }
  return serials
}

/** One at a time: a million strings at once would be several times as large as the list. */
function* linesOf(content: Buffer): Generator<string> {
  for (let start = 0; start < content.length;) {
    const found = content.indexOf('\n', start)
    const end = found < 0 ? content.length : found
    yield content.toString('utf8', start, end)
    start = end + 1
  }
}

function tooLong(name: string): UserError {
  return new UserError('serials_invalid', `${name} has more than ${SERIALS_MAX} serials`, {
    hint: 'choose a shorter period, and the serials of that period',
  })
}
