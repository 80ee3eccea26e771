import type { AdminEntry, AdminSegment } from '../../../protocol/admin/views.ts'
import type { Output } from '../../terminal/output.ts'
import { headingsOf, renderLine } from '../../terminal/table.ts'
import { describeVerification, type LogVerification } from './verify-log.ts'

/** Prints a log that may be too long to hold, page by page; nothing appears before the first page has been read. */
export interface EntryPrinter {
  print(entries: readonly AdminEntry[]): Promise<void>
  end(verification: LogVerification | undefined, lacks?: ListLacks): Promise<void>
}

/** What a list does not have that it should. */
export interface ListLacks {
  /** The hub has yet to index its acts before this entry. */
  readonly indexedFrom?: number | undefined
  /** Entries whose segments could not be read. */
  readonly missing?: readonly UnreadEntries[]
}

export type UnreadEntries = Pick<AdminSegment, 'file' | 'first' | 'last'>

/** One JSON document, written as it comes, a line an entry. */
export function printEntriesAsJson(output: Output): EntryPrinter {
  let opening = '{"eventos":['
  return {
    print: async (entries) => {
      if (entries.length === 0) return
      await output.write(`${opening}\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}`)
      opening = ','
    },
    end: (verification, { indexedFrom, missing = [] } = {}) => {
      const start = opening === ',' ? '' : opening
      const fields = {
        ...(missing.length > 0 && { missing }),
        ...verification,
        ...(indexedFrom !== undefined && { indexed_from: indexedFrom }),
      }
      const text = JSON.stringify(fields).slice(1, -1)
      return output.write(`${start}\n]${text === '' ? '' : `,${text}`}}\n`)
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
    end: async (verification, lacks = {}) => {
      await print([])
      const warnings = describeLacks(lacks).map((text) => `\nwarning: ${text}\n`)
      await output.write(warnings.join(''))
      if (verification?.ok !== true) return
      await output.write(`\n${describeVerification(verification)}\n`)
    },
  }
}

function describeLacks({ indexedFrom, missing = [] }: ListLacks): string[] {
  return [
    ...(indexedFrom === undefined
      ? []
      : [
          `a running hub has yet to index its acts before entry ${indexedFrom}: this list lacks them`,
        ]),
    ...missing.map(
      ({ file, first, last }) =>
        `the entries ${first} to ${last} are in a segment that cannot be read: ${file}`,
    ),
  ]
}

function renderEntry(entry: AdminEntry): string {
  const { seq, timestamp, tipo_evento, agente_id, payload_text } = entry
  return renderLine(COLUMN_WIDTHS, [seq, timestamp, tipo_evento, agente_id, payload_text])
}
