import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseRecord } from '../../../audit/record.ts'
import { invariant } from '../../../platform/errors.ts'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { Read } from '../admin-act.ts'

/** So many are read at a time, with a turn for everybody else in between. */
const STEP_ENTRIES = 250
/** Agents choose how long records are: ten thousand of the longest would be 160 MB, and hold up the hub for seconds. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024

/** What a verifier of the log needs, at a quarter of what whole entries cost. docs/protocol.md API-30. */
export const listRecords: Read<'listRecords'> = async (
  reader,
  { after = 0, limit = LIST_PAGE_MAX },
) => {
  const registros: string[] = []
  let characters = 0
  for (let last = after; ;) {
    const size = Math.min(STEP_ENTRIES, limit - registros.length)
    const records = await reader.listRecords(last, size)
    registros.push(...records)
    characters += records.reduce((sum, record) => sum + record.length, 0)
    const lastRecord = records.at(-1)
    if (lastRecord === undefined || records.length < size) return { registros, next: null }
    const entry = parseRecord(lastRecord)
    invariant(entry !== undefined, 'the store answers records')
    last = entry.seq
    if (registros.length === limit || characters >= PAGE_CHARACTERS_MAX)
      return { registros, next: last }
    await nextTurn()
  }
}
