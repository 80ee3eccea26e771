import { decode, join } from './bytes.ts'
import { ExportFault } from './export-fault.ts'

const LINE_BYTES_MAX = 16 * 1024 * 1024
/** What is hashed in one turn of the page: some ten milliseconds. */
const BATCH_LINES = 64
const BATCH_BYTES = 1024 * 1024

/** The first line alone, then a batch of lines at a time. */
export async function* readBatches(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let rest: Uint8Array[] = []
  let restBytes = 0
  let lines: string[] = []
  let linesBytes = 0
  let isFirst = true
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = join(...rest, chunk.subarray(start, end))
      const text = line.length > LINE_BYTES_MAX ? undefined : decode(line)
      if (text === undefined) throw new ExportFault('a line is too long, or not UTF-8')
      lines.push(text)
      linesBytes += line.length
      ;[start, rest, restBytes] = [end + 1, [], 0]
      if (isFirst || lines.length === BATCH_LINES || linesBytes >= BATCH_BYTES) {
        yield lines
        ;[isFirst, lines, linesBytes] = [false, [], 0]
      }
    }
    rest.push(chunk.subarray(start))
    restBytes += chunk.length - start
    if (restBytes > LINE_BYTES_MAX) throw new ExportFault('a line is too long')
  }
  if (restBytes > 0) throw new ExportFault('the export is cut off within a line')
  if (lines.length > 0) yield lines
}
