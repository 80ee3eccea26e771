// The serials that the CA says it issued: a line a serial, `#` begins a comment, blank lines do not count. docs/protocol.md EVD-10.

import { UserError } from '../platform/errors.ts'
import { printable } from '../platform/printable.ts'
import { readLines } from '../platform/read-lines.ts'
import { parseSerial } from './serial-number.ts'
import { SerialSet } from './serial-set.ts'

const SERIALS_MAX = 20_000_000
const LINE_BYTES_MAX = 4096
const SHOWN_CHARACTERS = 80
const LINE_BREAK = Buffer.from('\n')

export interface SerialListOptions {
  /** Of the list, in errors. */
  readonly name: string
  readonly serialsMax?: number
  readonly onProgress?: (lines: number) => void
}

/** Each once, in the order of the list. Throws on the first line that has none: half a list would make certificates look missing. */
export async function readSerialList(
  chunks: AsyncIterable<Uint8Array>,
  { name, serialsMax = SERIALS_MAX, onProgress }: SerialListOptions,
): Promise<SerialSet> {
  const serials = new SerialSet()
  let number = 0
  const options = { name, lineBytesMax: LINE_BYTES_MAX }
  for await (const lines of readLines(ended(chunks), options)) {
    for (const line of lines) {
      number += 1
      const text = (line.split('#')[0] ?? '').trim()
      if (text === '') continue
      const serial = parseSerial(text)
      if (serial === undefined) throw noSerial(name, number, text)
      serials.add(serial)
      if (serials.size > serialsMax) throw tooMany(name, number, serialsMax)
    }
    onProgress?.(number)
  }
  return serials
}

/** The last line may end without a line break. */
async function* ended(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let last: number | undefined
  for await (const chunk of chunks) {
    yield chunk
    last = chunk.at(-1) ?? last
  }
  if (last !== undefined && last !== LINE_BREAK[0]) yield LINE_BREAK
}

function noSerial(name: string, number: number, text: string): UserError {
  const what = printable(text.slice(0, SHOWN_CHARACTERS))
  return new UserError('serials_invalid', `${name}, line ${number}: ${what} is no serial`, {
    hint: 'one serial a line, in decimal or in hex; # begins a comment',
  })
}

function tooMany(name: string, number: number, max: number): UserError {
  return new UserError(
    'serials_invalid',
    `${name}, line ${number}: these are more than ${max} serials`,
    {
      hint: 'choose a shorter period, and the serials of that period',
    },
  )
}
