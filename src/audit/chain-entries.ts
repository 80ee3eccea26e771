// What makes entries a chain: numbers without a gap, times that never decrease, each hash over the one before.
// docs/protocol.md CHN-2, CHN-4, CHN-5.

import { type ChainedEntry, formatTimestamp, GENESIS_HASH, hashEntry } from './hash-chain.ts'

/** What the next entry is chained to. */
export type ChainEnd = Pick<ChainedEntry, 'seq' | 'timestamp' | 'hash'>

interface Content {
  readonly payloadText: string
  /** When it happened; the timestamp is never before the timestamp of the entry before. */
  readonly at: Date
}

/** In this order; `end` is undefined in an empty log. */
export function chainEntries<T extends Content>(
  end: ChainEnd | undefined,
  entries: readonly T[],
): (Omit<T, 'at'> & ChainedEntry)[] {
  let last = end
  return entries.map(({ at, ...content }) => {
    const now = formatTimestamp(at)
    const timestamp = last !== undefined && last.timestamp > now ? last.timestamp : now
    const previousHash = last?.hash ?? GENESIS_HASH
    const hash = hashEntry(previousHash, content.payloadText, timestamp)
    const chained = { ...content, seq: (last?.seq ?? 0) + 1, timestamp, previousHash, hash }
    last = chained
    return chained
  })
}
