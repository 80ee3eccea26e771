// A journal in memory, for the stores of one process. It takes the turns one after the other, as any journal does, and may be told to
// misbehave: to be away, to take a record and lose its reply, to lose its end.

import { invariant } from '../../src/platform/errors.ts'
import type { Journal, JournalRecord } from '../../src/hub/store/journal.ts'
import { StoreError } from '../../src/hub/store/store-error.ts'

export type JournalMood = 'well' | 'away' | 'loses replies'

export class MemoryJournal implements Journal {
  readonly records: JournalRecord[] = []
  mood: JournalMood = 'well'
  /** So many records are refused yet. */
  refusals = 0
  #last: Promise<void> = Promise.resolve()

  async read(after: number): Promise<readonly JournalRecord[]> {
    this.#requireThere()
    // A few at a time, so that a follower has to ask again.
    return this.records.slice(after, after + 3)
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
      end: this.records.length,
      append: async (record: JournalRecord): Promise<void> => {
        try {
          this.#requireThere()
          if (this.refusals > 0) {
            this.refusals -= 1
            throw new StoreError('store_unavailable', 'the connection was cut')
          }
          invariant(record.number === this.records.length + 1, 'records are numbered in order')
          this.records.push(record)
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
