import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseChainLine } from '../../../audit/chain-line.ts'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { Read } from '../admin-act.ts'

/** So many are read at a time, with a turn for everybody else in between. */
const STEP_ENTRIES = 1000

/** What a verifier of the log needs, at a quarter of what whole entries cost. docs/protocol.md API-30. */
export const listChain: Read<'listChain'> = async (
  reader,
  { after = 0, limit = LIST_PAGE_MAX },
) => {
  const eventos: string[] = []
  for (let last = after; ;) {
    const size = Math.min(STEP_ENTRIES, limit - eventos.length)
    const lines = await reader.listChain(last, size)
    eventos.push(...lines)
    const lastLine = lines.at(-1)
    if (lastLine === undefined || lines.length < size) return { eventos, next: null }
    last = parseChainLine(lastLine).seq
    if (eventos.length === limit) return { eventos, next: last }
    await nextTurn()
  }
}
