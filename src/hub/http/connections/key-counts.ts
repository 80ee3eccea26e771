/** How many there are of each key; a key with a count of 0 takes no memory. */
export class KeyCounts {
  readonly #counts = new Map<string, number>()

  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: string): void {
    this.#counts.set(key, this.of(key) + 1)
  }

  remove(key: string): void {
    const count = this.of(key) - 1
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }

  /** The key that has the most, when any has. Looks at all. */
  findMost(): string | undefined {
    let most: string | undefined
    for (const [key, count] of this.#counts) {
      if (most === undefined || count > this.of(most)) most = key
    }
    return most
  }
}
