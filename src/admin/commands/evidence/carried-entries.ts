// The entries that evidence carries, oldest first: all of the period with the entries on both sides of it, which show where it begins
// and ends, and from outside what bears on its certificates. docs/protocol.md EVD-5.

import { formatRecord, parseRecord } from '../../../audit/record.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { toRecorded } from '../evento/verify-log.ts'
import type { EvidencePlan } from './plan-evidence.ts'
import type { UnreadEntries } from './scan-entries.ts'

export type CarriedEntry = RecordOf | Absence

interface RecordOf {
  readonly seq: number
  readonly record: string
}

/** Entries that the hub could not show. */
interface Absence {
  readonly absent: { readonly after: number; readonly until: number; readonly why: string }
}

type Operations = Pick<AdminOperations, 'listRecords' | 'listEntries'>

const PAGE_ENTRIES = 500

export async function* carriedEntries(
  operations: Operations,
  { head: { agente, after, until }, checkpoint: { size }, records, unread }: EvidencePlan,
): AsyncGenerator<CarriedEntry> {
  const sorted: CarriedEntry[] = [...records].map(([seq, record]) => ({ seq, record }))
  if (agente !== null) {
    yield* inOrder([...sorted, ...unread.map((range) => absence(range.first, range.last, [range]))])
    return
  }
  const [first, last] = [Math.max(after, 1), Math.min(until + 1, size)]
  // What of it is of the period shows when the period is read.
  for (const range of unread) {
    if (range.first < first) {
      sorted.push(absence(range.first, Math.min(range.last, first - 1), [range]))
    }
    if (range.last > last) {
      sorted.push(absence(Math.max(range.first, last + 1), range.last, [range]))
    }
  }
  const outside = inOrder(sorted)
  yield* outside.filter((one) => placeOf(one) < first)
  yield* consecutive(operations, first, last)
  yield* outside.filter((one) => placeOf(one) > last)
}

function inOrder(entries: readonly CarriedEntry[]): CarriedEntry[] {
  return entries.toSorted((one, other) => placeOf(one) - placeOf(other))
}

function placeOf(one: CarriedEntry): number {
  return 'absent' in one ? one.absent.after + 1 : one.seq
}

async function* consecutive(
  operations: Operations,
  first: number,
  last: number,
): AsyncGenerator<CarriedEntry> {
  for (let next = first; next <= last;) {
    const limit = Math.min(PAGE_ENTRIES, last - next + 1)
    const { records, unread } = await readPage(operations, next - 1, last + 1, limit)
    for (const record of records) {
      const seq = parseRecord(record)?.seq
      if (seq === undefined || seq < next || seq > last) {
        throw new SvcError('reply_invalid', 'the hub answered a record that is none')
      }
      if (seq > next) yield absence(next, seq - 1, unread)
      yield { seq, record }
      next = seq + 1
    }
    if (records.length > 0) continue
    yield absence(next, last, unread)
    next = last + 1
  }
}

interface RecordPage {
  readonly records: readonly string[]
  readonly unread: readonly UnreadEntries[]
}

/** Whole entries cost the hub more, and leave out what is in a segment that is not there. */
async function readPage(
  { listRecords, listEntries }: Operations,
  after: number,
  before: number,
  limit: number,
): Promise<RecordPage> {
  try {
    return { records: (await listRecords({ after, limit })).registros, unread: [] }
  } catch (error) {
    if (!(error instanceof UserError) || !error.code.startsWith('segment_')) throw error
    const { eventos, missing = [] } = await listEntries({ after, before, limit })
    return { records: eventos.map((entry) => formatRecord(toRecorded(entry))), unread: missing }
  }
}

function absence(first: number, until: number, unread: readonly UnreadEntries[]): Absence {
  const within = unread.find((range) => range.first <= until && range.last >= first)
  const why =
    within === undefined
      ? 'the hub no longer has these entries'
      : `the segment ${within.file} is missing or damaged`
  return { absent: { after: first - 1, until, why } }
}
