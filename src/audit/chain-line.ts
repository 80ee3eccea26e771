// An entry of the log as one text, for a verifier of millions: `<seq> <hash_anterior> <timestamp> <hash_atual> <payload>`.
// All but the number and the payload have their fixed lengths, so the text can be read only one way. docs/protocol.md API-30.

import type { ChainedEntry } from './hash-chain.ts'

const HASH_LENGTH = 64
const TIMESTAMP_LENGTH = 27

export function formatChainLine(entry: ChainedEntry): string {
  const { seq, previousHash, timestamp, hash, payloadText } = entry
  return `${seq} ${previousHash} ${timestamp} ${hash} ${payloadText}`
}

/** Whatever the text is: what does not have this form becomes an entry that no chain has. */
export function parseChainLine(line: string): ChainedEntry {
  const numberEnd = line.indexOf(' ')
  const previousEnd = numberEnd + 1 + HASH_LENGTH
  const timestampEnd = previousEnd + 1 + TIMESTAMP_LENGTH
  const hashEnd = timestampEnd + 1 + HASH_LENGTH
  return {
    seq: Number(line.slice(0, numberEnd)),
    previousHash: line.slice(numberEnd + 1, previousEnd),
    timestamp: line.slice(previousEnd + 1, timestampEnd),
    hash: line.slice(timestampEnd + 1, hashEnd),
    payloadText: line.slice(hashEnd + 1),
  }
}
