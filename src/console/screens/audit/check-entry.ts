// Whether an entry's hash is that of its payload and time, as this browser computes it. docs/protocol.md CHN-2.

import { useEffect, useState } from 'preact/hooks'
import { encode, sha256, toHex } from '../../../audit/browser/bytes.ts'
import type { Entry } from './entry-list.ts'

export type EntryHash = 'computing' | 'equal' | 'other'

type Hashed = Pick<Entry, 'hash_anterior' | 'payload_text' | 'timestamp' | 'hash_atual'>

export async function isHashRight(entry: Hashed): Promise<boolean> {
  const { hash_anterior: before, payload_text: payload, timestamp, hash_atual: hash } = entry
  return toHex(await sha256(encode(`${before}${payload}${timestamp}`))) === hash
}

/** By `seq`; what is not in it is being computed. */
export function useEntryHashes(entries: readonly Entry[]): ReadonlyMap<number, EntryHash> {
  const [hashes, setHashes] = useState<ReadonlyMap<number, EntryHash>>(new Map())
  const key = entries.map(({ seq, hash_atual }) => `${seq} ${hash_atual}`).join(',')
  useEffect(() => {
    let isOver = false
    const compute = async (): Promise<void> => {
      const made = new Map<number, EntryHash>()
      for (const entry of entries)
        made.set(entry.seq, (await isHashRight(entry)) ? 'equal' : 'other')
      if (!isOver) setHashes(made)
    }
    void compute()
    return () => {
      isOver = true
    }
  }, [key])
  return hashes
}
