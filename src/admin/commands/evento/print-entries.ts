import type { AdminEntry } from '../../../protocol/admin/views.ts'
import type { Output } from '../../terminal/output.ts'
import { headingsOf, renderLine } from '../../terminal/table.ts'
import { describeVerification, type LogVerification } from './verify-log.ts'

/** Prints a log that may be too long to hold, page by page; nothing appears before the first page has been read. */
export interface EntryPrinter {
  print(entries: readonly AdminEntry[]): Promise<void>
  /** `indexedFrom`: the hub has yet to index its acts before this entry, and the list lacks them. */
  end(verification: LogVerification | undefined, indexedFrom?: number): Promise<void>
}

/** One JSON document, written as it comes, a line an entry. */
export function printEntriesAsJson(output: Output): EntryPrinter {
  let opening = '{"eventos":['
  return {
    print: async (entries) => {
      if (entries.length === 0) return
      await output.write(`${opening}\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}`)
      opening = ','
    },
    end: (verification, indexedFrom) => {
      const start = opening === ',' ? '' : opening
      const fields =
        verification === undefined ? '' : `,${JSON.stringify(verification).slice(1, -1)}`
      const index = indexedFrom === undefined ? '' : `,"indexed_from":${indexedFrom}`
      return output.write(`${start}\n]${fields}${index}}\n`)
    },
  }
}

/** A log without an end is no document: one JSON object a line. */
export function printEntriesAsJsonLines(output: Output): EntryPrinter {
  return {
    print: (entries) => output.write(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')),
    end: () => Promise.resolve(),
  }
}

/** The widest usual value of each column but the last; nobody can measure entries that are yet to come. */
const COLUMN_WIDTHS = [6, 27, 26, 36]
const COLUMNS = ['seq', 'timestamp', 'tipo_evento', 'agente_id', 'payload'] as const

export function printEntriesAsTable(output: Output): EntryPrinter {
  const { language } = output
  let head = renderLine(COLUMN_WIDTHS, headingsOf(language, COLUMNS))
  const print = async (entries: readonly AdminEntry[]): Promise<void> => {
    await output.write(`${head}${entries.map(renderEntry).join('')}`)
    head = ''
  }
  return {
    print,
    // A broken log is an error, and is told on stderr.
    end: async (verification, indexedFrom) => {
      await print([])
      if (indexedFrom !== undefined) {
        await output.write(
          `\nwarning: a running hub has yet to index its acts before entry ${indexedFrom}: this list lacks them\n`,
        )
      }
      if (verification?.ok !== true) return
      await output.write(`\n${describeVerification(verification)}\n`)
    },
  }
}

function renderEntry(entry: AdminEntry): string {
  const { seq, timestamp, tipo_evento, agente_id, payload_text } = entry
  return renderLine(COLUMN_WIDTHS, [seq, timestamp, tipo_evento, agente_id, payload_text])
}
