/** Items by a number, the least first; of equal ones whichever. */
export class MinHeap<T> {
  readonly #entries: { rank: number; readonly item: T }[] = []

  peek(): { readonly rank: number; readonly item: T } | undefined {
    return this.#entries[0]
  }

  push(rank: number, item: T): void {
    this.#entries.push({ rank, item })
    this.#raise(this.#entries.length - 1)
  }

  pop(): T | undefined {
    return this.#take(0)
  }

  /** The one that is this item; looks at all. */
  remove(item: T): void {
    this.#take(this.#entries.findIndex((entry) => entry.item === item))
  }

  #take(at: number): T | undefined {
    const taken = this.#entries[at]
    const last = this.#entries.at(-1)
    if (taken === undefined || last === undefined) return undefined
    this.#entries.length -= 1
    if (taken !== last) {
      this.#entries[at] = last
      this.#lower(at)
      this.#raise(at)
    }
    return taken.item
  }

  #raise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1
      if (this.#rank(parent) <= this.#rank(at)) return
      this.#swap(parent, at)
      at = parent
    }
  }

  #lower(from: number): void {
    for (let at = from; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const least = this.#rank(right) < this.#rank(left) ? right : left
      if (this.#rank(at) <= this.#rank(least)) return
      this.#swap(at, least)
      at = least
    }
  }

  /** Beyond the end all are greater. */
  #rank(at: number): number {
    return this.#entries[at]?.rank ?? Number.POSITIVE_INFINITY
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#entries[one], this.#entries[other]]
    if (first === undefined || second === undefined) return
    this.#entries[one] = second
    this.#entries[other] = first
  }
}
