import { decode, join } from './bytes.ts'
import { ExportFault } from './export-fault.ts'

const LINE_BYTES_MAX = 16 * 1024 * 1024
/** Lines that are hashed at once. */
const BATCH_LINES = 256

/** The first line alone, then those that came together, at most BATCH_LINES. */
export async function* readBatches(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let rest: Uint8Array[] = []
  let restBytes = 0
  let lines: string[] = []
  let isFirst = true
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = join(...rest, chunk.subarray(start, end))
      const text = line.length > LINE_BYTES_MAX ? undefined : decode(line)
      if (text === undefined) throw new ExportFault('a line is too long, or not UTF-8')
      lines.push(text)
      ;[start, rest, restBytes] = [end + 1, [], 0]
      if (isFirst || lines.length === BATCH_LINES) {
        yield lines
        ;[isFirst, lines] = [false, []]
      }
    }
    rest.push(chunk.subarray(start))
    restBytes += chunk.length - start
    if (restBytes > LINE_BYTES_MAX) throw new ExportFault('a line is too long')
  }
  if (restBytes > 0) throw new ExportFault('the export is cut off within a line')
  if (lines.length > 0) yield lines
}
