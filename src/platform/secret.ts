import { inspect } from 'node:util'

const REDACTED = '[redacted]'

/** A value that prints as `[redacted]` wherever it is logged, inspected or serialised by mistake. */
export class Secret<T> {
  readonly #value: T
  constructor(value: T) {
    this.#value = value
  }
  reveal(): T {
    return this.#value
  }
  toString(): string {
    return REDACTED
  }
  toJSON(): string {
    return REDACTED
  }
  [inspect.custom](): string {
    return REDACTED
  }
}
