// The lines of a text of any length, in bounded memory.

import { isUtf8 } from 'node:buffer'
import { UserError } from './errors.ts'

const LINE_BREAK = 10

export interface LinesOptions {
  /** Of the text, in errors. */
  readonly name: string
  /** Of one line, without its line break. */
  readonly lineBytesMax: number
}

/** Those that came together. Throws a UserError `file_invalid` for a line that is too long, not UTF-8, or not ended. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  { name, lineBytesMax }: LinesOptions,
): AsyncGenerator<string[]> {
  let count = 0
  let rest: Uint8Array[] = []
  let restBytes = 0
  const invalid = (what: string): UserError =>
    new UserError('file_invalid', `${name}, line ${count + 1}: ${what}`)
  for await (const chunk of chunks) {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, end)])
      if (line.length > lineBytesMax) throw invalid(`it has more than ${lineBytesMax} bytes`)
      if (!isUtf8(line)) throw invalid('it is not UTF-8')
      lines.push(line.toString())
      count += 1
      start = end + 1
      rest = []
      restBytes = 0
    }
    rest.push(chunk.subarray(start))
    restBytes += chunk.length - start
    if (restBytes > lineBytesMax) throw invalid(`it has more than ${lineBytesMax} bytes`)
    if (lines.length > 0) yield lines
  }
  if (restBytes > 0) throw invalid('it is cut off: it has no line break')
}
