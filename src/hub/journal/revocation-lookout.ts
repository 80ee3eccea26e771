// A hub runs no record while a COMMIT of its own is not answered: its database is in the middle of that transaction. Meanwhile another hub may
// have revoked an agent whose stream is here. So when this hub has not followed the journal for a while, it reads ahead, on a connection of its
// own, and cuts off whom the records revoke; it runs them later. docs/protocol.md HUB-13.

import type { Clock } from '../../platform/clock.ts'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Journal, JournalPosition } from '../store/journal.ts'
import { positionAfter, type RecordSeal } from '../store/record-seal.ts'
import { parseChangeRecord } from '../store/sqlite/change-record-form.ts'

export interface RevocationLookoutOptions {
  /** Of which nobody waits for a COMMIT. */
  readonly journal: Pick<Journal, 'read'>
  readonly seal: RecordSeal
  /** Of the last record that is committed here, whatever is under way. */
  readonly committed: () => JournalPosition
  /** When this hub had everything last, in milliseconds that never jump. */
  readonly followedAtMs: () => number
  readonly onRevoked: (agentId: AgentId) => void
  readonly clock: Pick<Clock, 'sleep'>
  readonly monotonicMs: () => number
}

/** A hub looks at the journal every 250 ms; one that is late by more than as much again has not got on. */
const OVERDUE_MS = 500
const LOOK_MS = 100
const RETRY_MS = 250
/** A connection that is opened when it is needed comes too late. */
const KEEP_OPEN_MS = 5000

export class RevocationLookout {
  readonly #options: RevocationLookoutOptions
  /** How far it has read; undefined while the hub gets on by itself. */
  #ahead: JournalPosition | undefined

  constructor(options: RevocationLookoutOptions) {
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, committed, followedAtMs, monotonicMs } = this.#options
    let { number } = committed()
    let movedMs = monotonicMs()
    let readMs = Number.NEGATIVE_INFINITY
    let pauseMs = LOOK_MS
    while (!signal.aborted) {
      const nowMs = monotonicMs()
      const here = committed()
      // One that has much to run is not helped by more to read.
      if (here.number !== number) movedMs = nowMs
      number = here.number
      const isOverdue = nowMs - Math.max(movedMs, followedAtMs()) > OVERDUE_MS
      if (!isOverdue) this.#ahead = undefined
      if (isOverdue || nowMs - readMs > KEEP_OPEN_MS) {
        readMs = nowMs
        try {
          await unlessAborted(this.#look(here, isOverdue), signal)
          pauseMs = LOOK_MS
        } catch {
          // It has learned nothing; the next look may.
          pauseMs = RETRY_MS
        }
      }
      await clock.sleep(pauseMs, signal).catch(() => undefined)
    }
  }

  async #look(here: JournalPosition, isOverdue: boolean): Promise<void> {
    const { journal, seal, onRevoked } = this.#options
    let at = this.#ahead ?? here
    for (;;) {
      const { end, records } = await journal.read(at.number, at)
      if (!isOverdue) return
      for (const record of records) {
        const { news } = parseChangeRecord(seal.open(at, record))
        at = positionAfter(at, record)
        for (const { revoked } of news) if (revoked !== undefined) onRevoked(revoked)
      }
      this.#ahead = at
      if (records.length === 0 || at.number >= end.number) return
    }
  }
}
