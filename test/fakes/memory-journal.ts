// A journal in memory, for the stores of one process. It takes the turns one after the other, as any journal does, and may be told to
// misbehave: to be away, to take a record and lose its reply, to lose its end.

import { invariant } from '../../src/platform/errors.ts'
import type {
  Journal,
  JournalPart,
  JournalPosition,
  JournalRecord,
} from '../../src/hub/store/journal.ts'
import { StoreError } from '../../src/hub/store/store-error.ts'
import { MemoryImages } from './memory-images.ts'

/** `silent`: a look at it waits until it is well. */
export type JournalMood = 'well' | 'away' | 'loses replies' | 'silent'

export class MemoryJournal implements Journal {
  records: JournalRecord[] = []
  mood: JournalMood = 'well'
  /** So many records are refused yet. */
  refusals = 0
  /** Of leases. */
  readonly terms: Map<string, number> = new Map()
  readonly images: MemoryImages = new MemoryImages(this)
  #dropped = 0
  #last: Promise<void> = Promise.resolve()
  /** After each record that there ever was. */
  #hashes: Buffer[]

  constructor(first: Buffer = Buffer.alloc(32)) {
    this.#hashes = [first]
  }

  get end(): JournalPosition {
    const number = this.records.at(-1)?.number ?? this.#dropped
    const hash = this.#hashes[number]
    invariant(hash !== undefined, 'the journal knows its end')
    return { number, hash }
  }

  /** Somebody has put another one in its place. */
  become(other: MemoryJournal): void {
    this.records = [...other.records]
    this.#hashes = [...other.#hashes]
    this.#dropped = other.#dropped
  }

  dropUntil(number: number): void {
    this.records = this.records.filter((record) => record.number > number)
    this.#dropped = Math.max(this.#dropped, number)
  }

  async read(after: number): Promise<JournalPart> {
    while (this.mood === 'silent') await new Promise(setImmediate)
    this.#requireThere()
    // A few at a time, so that a follower has to ask again.
    const records = this.records.filter(({ number }) => number > after).slice(0, 3)
    if (after < this.end.number && records[0]?.number !== after + 1) {
      throw new StoreError('store_behind', `record ${after + 1} is gone`)
    }
    return { end: this.end, records }
  }

  async takeTurn() {
    const before = this.#last
    let end = (): void => undefined
    this.#last = new Promise((resolve) => {
      end = resolve
    })
    await before
    try {
      this.#requireThere()
    } catch (error) {
      end()
      throw error
    }
    return {
      end: this.end,
      terms: this.terms,
      append: async (record: JournalRecord, after: JournalPosition): Promise<void> => {
        try {
          this.#requireThere()
          if (this.refusals > 0) {
            this.refusals -= 1
            throw new StoreError('store_unavailable', 'the connection was cut')
          }
          invariant(record.number === this.end.number + 1, 'records are numbered in order')
          invariant(record.number === after.number, 'the end is that of the record')
          this.records.push(record)
          this.#hashes[record.number] = after.hash
          if (this.mood !== 'loses replies') return
          throw new StoreError('store_unknown', 'the journal did not answer')
        } finally {
          end()
        }
      },
      release: async (): Promise<void> => end(),
    }
  }

  async close(): Promise<void> {
    await this.#last
  }

  #requireThere(): void {
    if (this.mood === 'away') throw new StoreError('store_unavailable', 'the journal is away')
  }
}
