import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainedEntry } from '../../../audit/hash-chain.ts'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminChainLink } from '../../../protocol/admin/views.ts'
import type { Read } from '../admin-act.ts'

/** So many are read at a time, with a turn for everybody else in between. */
const STEP_ENTRIES = 1000

/** What a verifier of the log needs, at a third of what whole entries cost. docs/protocol.md API-30. */
export const listChain: Read<'listChain'> = async (
  reader,
  { after = 0, limit = LIST_PAGE_MAX },
) => {
  const eventos: AdminChainLink[] = []
  for (let last = after; ;) {
    const size = Math.min(STEP_ENTRIES, limit - eventos.length)
    const entries = await reader.listChain(last, size)
    for (const entry of entries) eventos.push(toLink(entry))
    last = eventos.at(-1)?.seq ?? last
    if (entries.length < size) return { eventos, next: null }
    if (eventos.length === limit) return { eventos, next: last }
    await nextTurn()
  }
}

function toLink({ seq, payloadText, timestamp, previousHash, hash }: ChainedEntry): AdminChainLink {
  return {
    seq,
    payload_text: payloadText,
    timestamp,
    hash_anterior: previousHash,
    hash_atual: hash,
  }
}
