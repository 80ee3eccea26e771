// One renewer may renew what several services read: it is stopped for all of them at once, or for none.

import type { Proposal } from './proposal.ts'
import { stopKeyOf } from './renewers/renewer.ts'

export function sharesRenewer(one: Proposal, other: Proposal): boolean {
  return sharedWith(one, other) !== undefined
}

/** Those of `isWanted` that would stop what another still needs get that as a problem. */
export function refuseShared(
  proposals: readonly Proposal[],
  isWanted: (proposal: Proposal) => boolean,
): Proposal[] {
  const needing = proposals.filter(({ state }) => state === 'open' || state === 'unfinished')
  const taken = new Set(
    needing.filter((one) => isWanted(one) && one.state === 'open' && one.problems.length === 0),
  )
  const faults = new Map<Proposal, string>()
  // Who is left out for one may be why another is.
  for (let before = -1; before !== faults.size;) {
    before = faults.size
    const left = needing.filter((one) => !taken.has(one))
    for (const one of taken) {
      const other = left.find((it) => sharesRenewer(one, it))
      if (other === undefined) continue
      taken.delete(one)
      faults.set(one, `${sharedWith(one, other)} renews ${other.id} too: choose both, or neither`)
    }
  }
  return proposals.map((one) => {
    const fault = faults.get(one)
    return fault === undefined ? one : { ...one, problems: [...one.problems, fault] }
  })
}

function sharedWith(one: Proposal, other: Proposal): string | undefined {
  const keys = new Set(keysOf(other).map(([key]) => key))
  return keysOf(one).find(([key]) => keys.has(key))?.[1]
}

function keysOf({ renewers }: Proposal): [key: string, words: string][] {
  return renewers.map(({ kind, name, stop }) => [
    stop === undefined ? `${kind} ${name}` : stopKeyOf(stop),
    `${kind} (${name})`,
  ])
}
