// The set of roots in force, as docs/protocol.md TRU has it.

import { demand } from './demand.ts'

export class RootSetModel {
  /** The first one is no change, and in no log. */
  #number = 1
  #roots: readonly string[] | undefined

  get number(): number {
    return this.#number
  }

  change(number: number, roots: readonly string[]): void {
    demand(number > this.#number, '[TRU-1] a number that fell')
    this.#number = number
    this.#roots = roots
  }

  beginAgain(): void {
    this.#number = 1
    this.#roots = undefined
  }

  /** [TRU-1] [TRU-4] In force is what was recorded last, at the port too. */
  check(number: number, inForce: readonly string[], atPort: readonly string[]): void {
    demand(number === this.#number, '[TRU-1] the set in force has number', number)
    demand(
      isSame(this.#roots ?? inForce, inForce),
      '[TRU-1] other roots are in force than recorded',
    )
    demand(isSame(inForce, atPort), '[TRU-4] port 8443 trusts other roots than are in force')
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}
