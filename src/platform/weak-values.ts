// Values by key, for as long as somebody else holds them.

export class WeakValues<Key, Value extends object> {
  readonly #references = new Map<Key, WeakRef<Value>>()

  /** Counts collected values too, until the next `set`. */
  get size(): number {
    return this.#references.size
  }

  get(key: Key): Value | undefined {
    return this.#references.get(key)?.deref()
  }

  set(key: Key, value: Value): void {
    for (const [each, reference] of this.#references) {
      if (reference.deref() === undefined) this.#references.delete(each)
    }
    this.#references.set(key, new WeakRef(value))
  }
}
