/**
 * An instant before which no token ends that has not ended: each entry of the log asks. Never later than the truth; after a
 * restart, and after a transaction that was rolled back, the tables are asked again.
 */
export class TokenEnds {
  #nextMs = Number.NEGATIVE_INFINITY

  isNoneDue(now: Date): boolean {
    return now.getTime() < this.#nextMs
  }

  /** Of the tables as they are now: when the first token ends, null where none does. */
  noteFirst(firstMs: number | null): void {
    this.#nextMs = firstMs ?? Number.POSITIVE_INFINITY
  }

  /** Of a token that was written. */
  noteToken(expiresAt: Date): void {
    this.#nextMs = Math.min(this.#nextMs, expiresAt.getTime())
  }

  forget(): void {
    this.#nextMs = Number.NEGATIVE_INFINITY
  }
}
