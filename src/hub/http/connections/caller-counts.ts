import { type Caller, SITE_SHARES } from './caller-key.ts'
import { KeyCounts } from './key-counts.ts'

/** How many there are of each caller, and of each /48. docs/protocol.md LIM-29. */
export class CallerCounts {
  readonly #counts = new KeyCounts()

  /** Whether the caller has so many, or its /48 four times as many. */
  has({ key, siteKey }: Caller, count: number): boolean {
    if (this.#counts.of(key) >= count) return true
    return siteKey !== undefined && this.#counts.of(siteKey) >= count * SITE_SHARES
  }

  add({ key, siteKey }: Caller): void {
    this.#counts.add(key)
    if (siteKey !== undefined) this.#counts.add(siteKey)
  }

  remove({ key, siteKey }: Caller): void {
    this.#counts.remove(key)
    if (siteKey !== undefined) this.#counts.remove(siteKey)
  }
}
