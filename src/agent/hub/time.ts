// The hub's clock, as its replies' `Date` shows it: ours may be wrong, and it is the hub that judges.

import type { Clock } from '../../platform/clock.ts'

/** What a certificate and a running computer can show; a `Date` outside is nonsense, and says nothing (AGT-41). */
const PLAUSIBLE_MS_MIN = Date.UTC(2000, 0, 1)
const PLAUSIBLE_MS_MAX = Date.UTC(9999, 0, 1)

export class HubTime {
  readonly #clock: Clock
  #skewMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The last word counts: what one reply got wrong, the next one puts right. */
  note(hubNow: Date): void {
    const hubNowMs = hubNow.getTime()
    if (!(hubNowMs >= PLAUSIBLE_MS_MIN && hubNowMs < PLAUSIBLE_MS_MAX)) return
    this.#skewMs = hubNowMs - this.#clock.now().getTime()
  }

  /** How far the hub's clock is ahead of this host's; undefined until the hub has sent its time. */
  get skewMs(): number | undefined {
    return this.#skewMs
  }

  /**
   * What time it is for the hub, by what it said last; our own time as long as it has said nothing. Up to two seconds
   * behind the truth: a `Date` has whole seconds, and was on its way. When our clock is set, it is wrong by as much
   * until the next reply.
   */
  now(): Date {
    return new Date(this.#clock.now().getTime() + (this.#skewMs ?? 0))
  }
}
