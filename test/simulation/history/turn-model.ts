// What docs/protocol.md promises of the turns of several hubs at the journal: which writes are in which record, and who may write it.

import { demand } from './demand.ts'
import type { Kernel, Program } from './kernel.ts'
import { isStanding } from './hub-tables.ts'

/** What a program does in its turn at the journal. */
interface Turn {
  readonly writes: Set<object>
  isOfJobs: boolean
}

export class TurnModel {
  readonly #kernel: Kernel
  /** What each program has in its turn, and which writes the journal has. */
  readonly #turns = new WeakMap<Program, Turn>()
  readonly #recorded = new WeakSet<object>()
  /** Those that have been one of the hubs. */
  readonly #entered = new WeakSet<Program>()

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  begin(program: Program): void {
    this.#turns.set(program, { writes: new Set(), isOfJobs: false })
  }

  /** A write runs in the turn of this program. [JRN-5] None runs again of which the journal has the record. */
  noteWrite(program: Program, write: object): void {
    const isRecorded = this.#recorded.has(write)
    demand(!isRecorded, '[JRN-5] a write runs again, and the journal has its record')
    this.#turns.get(program)?.writes.add(write)
  }

  /** What it writes in this turn is of what one hub does at a time. */
  noteJob(program: Program): void {
    const turn = this.#turns.get(program)
    if (turn !== undefined) turn.isOfJobs = true
  }

  /** It is one of the hubs. */
  noteEntered(program: Program): void {
    this.#entered.add(program)
  }

  /** The journal has the record of its turn. Who has what is read when the turn begins. */
  judgeRecord(program: Program, holders: ReadonlyMap<string, Program>): void {
    const { name } = program
    const { writes, isOfJobs } = this.#turns.get(program) ?? { writes: [], isOfJobs: false }
    for (const write of writes) this.#recorded.add(write)
    const isHeld = holders.get('jobs') === program
    const isOne = [...holders].some(([lease, holder]) => isStanding(lease) && holder === program)
    this.#kernel.look(() => {
      demand(
        isOne || !this.#entered.has(program),
        '[HUB-5] a write of a hub that was removed:',
        name,
      )
      demand(isHeld || !isOfJobs, '[HUB-6] a write of the jobs without their lease:', name)
    })
  }
}
