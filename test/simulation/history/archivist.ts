// Whoever archives the log: what is old leaves the vault, and whoever reads the log finds it all the same. docs/protocol.md ARC.

import type { AskHub } from './admin-socket.ts'
import { demand } from './demand.ts'
import type { Faults } from './faults.ts'
import type { Kernel } from './kernel.ts'
import { OLD_LOG_DAYS, type OldLog } from './old-log.ts'

export interface ArchivistOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly ask: AskHub
  readonly log: OldLog
  /** There are several hubs, and two people, who archive at once. */
  readonly isShared: boolean
  readonly note: (text: string) => void
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const PAUSE_MS_MAX = 30 * MINUTE_MS
const LISTED = 40

export class Archivist {
  /** The last entry that was said to have left the vault. */
  removedUntil = 0
  steps = 0
  readonly #options: ArchivistOptions

  constructor(options: ArchivistOptions) {
    this.#options = options
  }

  /** As long as there is trouble. */
  async live(): Promise<void> {
    const { kernel, faults, isShared } = this.#options
    const { random } = kernel
    for (;;) {
      await kernel.sleep(random() * PAUSE_MS_MAX)
      if (faults.isOver) return
      // What is old leaves the vault soon: nobody comes too late to be one of two.
      const areTwo = isShared && this.removedUntil === 0
      if (areTwo) await Promise.all([this.#archive(), this.#archive()])
      else await (random() < 0.6 ? this.#archive() : this.#list())
    }
  }

  /** Step by step, until it is done or one fails. */
  async #archive(): Promise<void> {
    const { kernel, ask, note } = this.#options
    const days = OLD_LOG_DAYS.last + kernel.random() * (OLD_LOG_DAYS.first - OLD_LOG_DAYS.last)
    const before = new Date(kernel.now().getTime() - days * DAY_MS).toISOString()
    for (;;) {
      const answer = await ask('evento archive', (admin) => admin.archiveEntries({ before }))
      if (!answer.ok) {
        const isConflict = answer.code === 'store_conflict'
        demand(!isConflict, '[ARC-6] two who archive at once break a rule of the tables')
        return
      }
      const { archived_until: archived, removed_until: removed, done } = answer.value
      this.steps += 1
      this.removedUntil = Math.max(this.removedUntil, removed)
      note(`archived until ${archived}, removed until ${removed}`)
      demand(removed <= archived, '[ARC-6] removed, and in no segment:', removed)
      if (done) return
    }
  }

  /** [ARC-8] What is old is there as it was, wherever it lies. */
  async #list(): Promise<void> {
    const { kernel, ask, log } = this.#options
    const after = Math.floor(kernel.random() * (log.records.length - LISTED))
    const records = await ask('evento export', (admin) =>
      admin.listRecords({ after, limit: LISTED }),
    )
    if (records.ok) {
      const isSame = records.value.registros.every(
        (one, index) => one === log.records[after + index],
      )
      demand(isSame, '[ARC-8] an old entry is another one, after', after)
    }
    const listed = await ask('evento list', (admin) => admin.listEntries({ after, limit: LISTED }))
    if (!listed.ok) return
    const { eventos, missing } = listed.value
    const numbers = eventos.map(({ seq }) => seq)
    const isWhole = numbers.length === LISTED && numbers[0] === after + 1
    demand(isWhole && missing === undefined, '[ARC-8] a list lacks old entries after', after)
  }
}
