// The hash chain of the audit log: hash_atual = SHA-256(previous hash ‖ payload ‖ timestamp), all UTF-8 text.
// The previous hash is 64 hex characters and the timestamp 27, so the concatenation can be read only one way.

import { hash } from 'node:crypto'

export const GENESIS_HASH: string = '0'.repeat(64)

export interface ChainedEntry {
  readonly seq: number
  readonly payloadText: string
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly timestamp: string
  readonly previousHash: string
  readonly hash: string
}

export interface ChainFault {
  readonly seq: number
  readonly reason: string
}

export function hashEntry(previousHash: string, payloadText: string, timestamp: string): string {
  return hash('sha256', `${previousHash}${payloadText}${timestamp}`, 'hex')
}

/** The fixed-width timestamp of an instant; clocks here have milliseconds, the last three digits are zero. */
export function formatTimestamp(instant: Date): string {
  return `${instant.toISOString().slice(0, -1)}000Z`
}

/** Checks a log entry by entry, oldest first, in constant memory. */
export class ChainVerifier {
  /** Undefined while it is the hash of an entry that nobody has shown. */
  #head: string | undefined
  #timestamp = ''
  #count: number
  #fault: ChainFault | undefined

  /** With `after`, of the entries after that one: the first one is chained to `head`, or to any hash where that is not known. */
  constructor(after = 0, head?: string) {
    this.#count = after
    this.#head = after === 0 ? GENESIS_HASH : head
  }

  /** The number of the last entry, if all are good. */
  get count(): number {
    return this.#count
  }
  /** The hash of the last good entry; empty before the first one of a part of a log. */
  get head(): string {
    return this.#head ?? ''
  }
  /** The first entry that is wrong, after which nothing is trusted. */
  get fault(): ChainFault | undefined {
    return this.#fault
  }

  /** Entries that nobody can show now: the chain goes on from the hash of the last one. */
  skipTo(seq: number, head: string): void {
    this.#count = seq
    this.#head = head
  }

  add(entry: ChainedEntry): void {
    this.#count += 1
    if (this.#fault !== undefined) return
    const reason = this.#reasonAgainst(entry)
    if (reason !== undefined) {
      this.#fault = { seq: entry.seq, reason }
      return
    }
    this.#head = entry.hash
    this.#timestamp = entry.timestamp
  }

  #reasonAgainst(entry: ChainedEntry): string | undefined {
    if (entry.seq !== this.#count) return `expected entry ${this.#count}`
    if (this.#head !== undefined && entry.previousHash !== this.#head)
      return 'the previous hash is not the hash of the entry before'
    if (entry.timestamp < this.#timestamp)
      return 'the timestamp is before the timestamp of the entry before'
    if (hashEntry(entry.previousHash, entry.payloadText, entry.timestamp) !== entry.hash) {
      return 'the hash does not match the payload and timestamp'
    }
    return undefined
  }
}
