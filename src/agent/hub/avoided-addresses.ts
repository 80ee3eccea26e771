// Addresses of the hub's name at which a hub answered that was replaced. The name may have others.

import { lookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Then it is tried again: the machine may have become the standby, or the hub. */
const AVOIDED_MS = 10 * 60_000
const AVOIDED_MAX = 64

export class AvoidedAddresses {
  readonly #untilMs = new Map<string, number>()

  avoid(address: string): void {
    this.#untilMs.delete(address)
    this.#untilMs.set(address, performance.now() + AVOIDED_MS)
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size > AVOIDED_MAX && oldest !== undefined) this.#untilMs.delete(oldest)
  }

  /** The others; all of them when there are no others. */
  choose(addresses: readonly LookupAddress[]): LookupAddress[] {
    const nowMs = performance.now()
    const others = addresses.filter(
      ({ address }) => (this.#untilMs.get(address) ?? Number.NEGATIVE_INFINITY) <= nowMs,
    )
    return others.length > 0 ? others : [...addresses]
  }

  readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const chosen = this.choose(addresses)
      const [first] = chosen
      if (options.all === true || first === undefined) callback(null, chosen)
      else callback(null, first.address, first.family)
    })
  }
}
