// The entries that evidence carries, oldest first: all of the period with the entries on both sides of it, which show where it begins
// and ends, and from outside what bears on its certificates. docs/protocol.md EVD-5.

import { parseRecord } from '../../../audit/record.ts'
import { SvcError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { EvidencePlan } from './plan-evidence.ts'

export type CarriedEntry = RecordOf | Absence

interface RecordOf {
  readonly seq: number
  readonly record: string
}

/** Entries that the hub does not have any more. */
interface Absence {
  readonly absent: { readonly after: number; readonly until: number; readonly why: string }
}

const PAGE_ENTRIES = 1000

export async function* carriedEntries(
  operations: Pick<AdminOperations, 'listRecords'>,
  { head: { agente, after, until }, checkpoint: { size }, records }: EvidencePlan,
): AsyncGenerator<CarriedEntry> {
  const sorted = [...records].map(([seq, record]) => ({ seq, record }))
  sorted.sort((one, other) => one.seq - other.seq)
  if (agente !== null) {
    yield* sorted
    return
  }
  const [first, last] = [Math.max(after, 1), Math.min(until + 1, size)]
  yield* sorted.filter(({ seq }) => seq < first)
  yield* consecutive(operations, first, last)
  yield* sorted.filter(({ seq }) => seq > last)
}

async function* consecutive(
  { listRecords }: Pick<AdminOperations, 'listRecords'>,
  first: number,
  last: number,
): AsyncGenerator<CarriedEntry> {
  let next = first
  while (next <= last) {
    const limit = Math.min(PAGE_ENTRIES, last - next + 1)
    const { registros } = await listRecords({ after: next - 1, limit })
    for (const record of registros) {
      const seq = parseRecord(record)?.seq
      if (seq === undefined || seq < next) {
        throw new SvcError('reply_invalid', 'the hub answered a record that is none')
      }
      if (seq > last) break
      if (seq > next) yield absence(next, seq - 1)
      yield { seq, record }
      next = seq + 1
    }
    if (registros.length === 0) {
      yield absence(next, last)
      next = last + 1
    }
  }
}

function absence(first: number, until: number): Absence {
  return { absent: { after: first - 1, until, why: 'the hub no longer has these entries' } }
}
