// Names of receivers, resolved once for each connection and connected to as they were resolved, so that no second answer
// of the DNS can lead elsewhere. The system's resolver blocks a thread of the few that the whole process has for such work,
// so the hub resolves at most two names at a time, and names that were slow or failed last time wait in a line of their own.

import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { SvcError } from '../../platform/errors.ts'
import { isAllowedAddress } from '../domain/webhook-addresses.ts'

export type ResolveName = (hostname: string, options: LookupOptions) => Promise<LookupAddress[]>

export interface AddressLookup {
  /** For connections of this protocol that take all addresses; refuses names that lead only where webhooks may not go. */
  forProtocol(protocol: string): LookupFunction
}

const SLOW_MS = 2000

const resolveBySystem: ResolveName = (hostname, options) =>
  systemLookup(hostname, { ...options, all: true })

export function createAddressLookup(resolveName: ResolveName = resolveBySystem): AddressLookup {
  const suspects = new Set<string>()
  const ask = watchSlowNames(resolveName, suspects)
  const quick = oneAtATime(ask)
  const suspect = oneAtATime(ask)
  const asked = new Map<string, Promise<LookupAddress[]>>()

  /** Attempts end before a resolver that hangs does: the next one waits for the same answer. */
  const resolveOnce: ResolveName = (hostname, options) => {
    const known = asked.get(hostname)
    if (known !== undefined) return known
    const line = suspects.has(hostname) ? suspect : quick
    const answer = line(hostname, options).finally(() => asked.delete(hostname))
    asked.set(hostname, answer)
    return answer
  }

  const resolveAllowed = async (
    hostname: string,
    options: LookupOptions,
    protocol: string,
  ): Promise<LookupAddress[]> => {
    const found = await resolveOnce(hostname, options)
    const allowed = found.filter(({ address }) => isAllowedAddress(address, protocol))
    if (allowed.length > 0) return allowed
    const addresses = found.map(({ address }) => address).join(', ')
    throw new SvcError(
      'address_refused',
      `${hostname} leads to ${addresses}, where the hub does not send`,
    )
  }
  return {
    forProtocol: (protocol) =>
      callbackify((hostname: string, options: LookupOptions) =>
        resolveAllowed(hostname, options, protocol),
      ),
  }
}

function watchSlowNames(resolveName: ResolveName, suspects: Set<string>): ResolveName {
  return async (hostname, options) => {
    const startedAt = performance.now()
    // Until it has answered well: one that never does shall not be asked for in the quick line again.
    suspects.add(hostname)
    const found = await resolveName(hostname, options)
    if (performance.now() - startedAt < SLOW_MS) suspects.delete(hostname)
    return found
  }
}

function oneAtATime(ask: ResolveName): ResolveName {
  let last: Promise<unknown> = Promise.resolve()
  return (hostname, options) => {
    const answer = last.then(() => ask(hostname, options))
    last = answer.catch(() => undefined)
    return answer
  }
}
