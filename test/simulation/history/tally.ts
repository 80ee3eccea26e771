// What a number of histories saw, in figures.

import type { FaultKind } from './faults.ts'
import type { History } from './run-history.ts'

export class Tally {
  histories = 0
  #shared = 0
  readonly #faults = new Map<FaultKind, number>()
  #crashes = 0
  #steps = 0
  #rounds = 0
  #acts = 0
  #entries = 0
  #messages = 0
  #streams = 0
  #backups = 0
  #restores = 0
  #refusals = 0
  #archived = 0
  #virtualMs = 0

  add(history: History): void {
    this.histories += 1
    if (history.hubs > 1) this.#shared += 1
    for (const [kind, count] of history.faults) {
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + count)
    }
    this.#crashes += history.crashes
    this.#steps += history.steps
    this.#rounds += history.rounds
    this.#acts += history.acts
    this.#entries += history.entries
    this.#messages += history.messages
    this.#streams += history.streams
    this.#backups += history.backups
    this.#restores += history.restores
    this.#refusals += history.refusals
    this.#archived += history.archived
    this.#virtualMs += history.virtualMs
  }

  /** One line. */
  summarise(): string {
    const faults = [...this.#faults.values()].reduce((sum, count) => sum + count, 0)
    return [
      `${this.histories} histories, ${this.#shared} of them of two hubs`,
      `${Math.round(this.#virtualMs / 3_600_000)} virtual hours`,
      `${faults} faults of ${this.#faults.size} kinds`,
      `${this.#crashes} crashes`,
      `${this.#steps} steps`,
      `${this.#rounds} rounds`,
      `${this.#acts} acts of operators`,
      `${this.#entries} log entries`,
      `${this.#messages} webhook messages`,
      `${this.#streams} streams`,
      `${this.#backups} backups`,
      `${this.#restores} restores`,
      `${this.#refusals} old vaults refused`,
      `${this.#archived} entries archived`,
    ].join(', ')
  }

  /** How often each kind of fault happened, the most frequent first. */
  listFaults(): string[] {
    return [...this.#faults]
      .sort(([, a], [, b]) => b - a)
      .map(([kind, count]) => `${String(count).padStart(8)}  ${kind}`)
  }
}
