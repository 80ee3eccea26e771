// The form of an export of the log, byte by byte: docs/protocol.md CHN-30, CHN-31. Lines of UTF-8, each ended by a line break: a
// JSON object that says what is in it and proves it, then each record as a JSON string. There is one way only to write each line.

import { HASH_BYTES } from './merkle-tree.ts'
import { parseRecord, type RecordedEntry } from './record.ts'

/** The first line. */
export interface ExportHead {
  /** The export has the entries after this one. */
  readonly after: number
  /** And up to this one. */
  readonly until: number
  /** The signed note. Its checkpoint is of the whole log. */
  readonly checkpoint: string
  /** Who signed it: `<name>+<hash>+<key>`. */
  readonly key: string
  /** The hashes of the full subtrees before the entries, and of those after them. */
  readonly left: readonly Buffer[]
  readonly right: readonly Buffer[]
}

const FORMAT = 'svc-evento-export-v1'
/** Without its line break. More than any record has that a hub writes. */
export const EXPORT_LINE_BYTES_MAX: number = 16 * 1024 * 1024
const HALF_PAIR = /\p{Surrogate}/u
/** No tree is higher. */
const HASHES_MAX = 2 * 53

export function formatExportHead(head: ExportHead): string {
  const { after, until, checkpoint, key, left, right } = head
  const [before, behind] = [left, right].map((hashes) =>
    hashes.map((hash) => hash.toString('base64')),
  )
  return JSON.stringify({
    format: FORMAT,
    after,
    until,
    checkpoint,
    key,
    left: before,
    right: behind,
  })
}

/** Undefined when the line is anything else. */
export function parseExportHead(line: string): ExportHead | undefined {
  const value = parseJson(line)
  if (!isObject(value)) return undefined
  const { after, until, checkpoint, key } = value
  if (!isCount(after) || !isCount(until) || after > until) return undefined
  if (typeof checkpoint !== 'string' || typeof key !== 'string') return undefined
  const [left, right] = [parseHashes(value['left']), parseHashes(value['right'])]
  if (left === undefined || right === undefined) return undefined
  const head = { after, until, checkpoint, key, left, right }
  return formatExportHead(head) === line ? head : undefined
}

export function formatExportRecord(record: string): string {
  return JSON.stringify(record)
}

/** Undefined when the line is anything else. */
export function parseExportRecord(
  line: string,
): { readonly record: string; readonly entry: RecordedEntry } | undefined {
  const record = parseJson(line)
  // Half a surrogate pair is no character, and hashes would take it for another one.
  if (typeof record !== 'string' || HALF_PAIR.test(record)) return undefined
  if (formatExportRecord(record) !== line) return undefined
  const entry = parseRecord(record)
  return entry && { record, entry }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}

function parseHashes(value: unknown): Buffer[] | undefined {
  if (!Array.isArray(value) || value.length > HASHES_MAX) return undefined
  const hashes = value.map((one) => Buffer.from(typeof one === 'string' ? one : '', 'base64'))
  return hashes.every((hash) => hash.length === HASH_BYTES) ? hashes : undefined
}

function isObject(
  value: unknown,
): value is Readonly<Record<'after' | 'until' | 'checkpoint' | 'key' | 'left' | 'right', unknown>> {
  return typeof value === 'object' && value !== null
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
