// Durations counted in classes, each a tenth wider than the one before: a percentile costs no memory that grows with the requests,
// and is at most a tenth more than the truth.

const FIRST_MS = 0.1
const FACTOR = 1.1
/** The last one is an hour and more. */
const CLASSES = Math.ceil(Math.log(3_600_000 / FIRST_MS) / Math.log(FACTOR)) + 1

export class DurationCounts {
  readonly #counts = new Uint32Array(CLASSES)
  #total = 0

  get total(): number {
    return this.#total
  }

  add(durationMs: number): void {
    const at = Math.ceil(Math.log(Math.max(durationMs, FIRST_MS) / FIRST_MS) / Math.log(FACTOR))
    const index = Math.min(CLASSES - 1, Math.max(0, at))
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#total += 1
  }

  /** So many of a hundred took no longer; null of none. */
  percentileMs(percent: number): number | null {
    if (this.#total === 0) return null
    let left = Math.ceil((this.#total * percent) / 100)
    const index = this.#counts.findIndex((count) => (left -= count) <= 0)
    return FIRST_MS * FACTOR ** index
  }

  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
  }
}
