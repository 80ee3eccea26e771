// One entry after the other: docs/protocol.md CHN-6.

import { ExportFault } from './export-fault.ts'
import type { Entry } from './read-export-lines.ts'

export interface Chain {
  count: number
  /** Of the last entry; undefined when nobody has shown it. */
  hash: string | undefined
  timestamp: string
}

export const GENESIS_HASH: string = '0'.repeat(64)

/** Throws ExportFault, and then the chain ends with the last good entry. */
export function followChain(
  chain: Chain,
  { seq, timestamp, previousHash, hash, madeHash }: Entry,
): void {
  const number = chain.count + 1
  const wrong = (reason: string): ExportFault => new ExportFault(reason, number)
  if (seq !== String(number)) throw wrong('it has another number')
  if (chain.hash !== undefined && previousHash !== chain.hash) {
    throw wrong('the previous hash is not the hash of the entry before')
  }
  if (timestamp < chain.timestamp)
    throw wrong('the timestamp is before the one of the entry before')
  if (madeHash !== hash) throw wrong('the hash does not match the payload and timestamp')
  chain.count = number
  chain.hash = hash
  chain.timestamp = timestamp
}
