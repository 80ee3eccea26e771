// The hub's clock, as its replies' `Date` shows it: ours may be wrong, and it is the hub that judges.

import type { Clock } from '../platform/clock.ts'

export class HubTime {
  readonly #clock: Clock
  #skewMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(hubNow: Date): void {
    this.#skewMs = hubNow.getTime() - this.#clock.now().getTime()
  }

  /** How far the hub's clock is ahead of ours; undefined as long as it has said nothing. */
  get skewMs(): number | undefined {
    return this.#skewMs
  }

  /** What time it is for the hub, by what it said last; our own time as long as it has said nothing. */
  now(): Date {
    return new Date(this.#clock.now().getTime() + (this.#skewMs ?? 0))
  }
}
