// Which set of roots an agent is offered: the one in force, or, while that goes out in waves and has not reached the agent, the one before.
// An agent adopts no lower number: it is offered none below the one that it says it has. docs/protocol.md RLO-30.

import type { BundleReplyBody } from '../../../protocol/schemas.ts'
import type { Agent } from '../../domain/agent.ts'
import type { RootsRollout } from '../../domain/rollout.ts'
import type { SetNumber } from '../../domain/root-set.ts'
import type { Store } from '../../store/store.ts'
import { CurrentRootSet } from './current-root-set.ts'
import { findOpenRoots } from './roots-in-waves.ts'

export interface OfferedRootSets {
  /** What the manifest of the agent names, and GET /v1/bundle answers. */
  offerTo(agent: Pick<Agent, 'id'>): Promise<BundleReplyBody>
  /** For a host that enrols: no wave has reached it. */
  enrolmentTrust(): Promise<CurrentRootSet['enrolmentTrust']>
}

/** Of those on their way, and those that their hosts have. */
const KNOWN_MAX = 8

export function createOfferedRootSets(store: Store, current: CurrentRootSet): OfferedRootSets {
  const { reader } = store
  /** Each poll asks. */
  let seen: { readonly version: number; readonly found: Found } | undefined
  /** What was open when the set in force here was that of the vault. */
  let own: RootsRollout | undefined
  const known = new Map<string, CurrentRootSet>()
  const findUpTo = async (wanted: SetNumber): Promise<CurrentRootSet> => {
    if (compareNumbers(wanted, current.set) === 0) return current
    const key = `${wanted.epoch} ${wanted.number}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const set = await reader.findRootSetUpTo(wanted)
    if (set === undefined) return current
    const found = new CurrentRootSet(set)
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(key, found)
    return found
  }
  const look = async (): Promise<Found> => {
    const open = await findOpenRoots(reader)
    return { open, newest: open?.subject ?? (await reader.findRootSet()) }
  }
  const findHeldBack = async (): Promise<RootsRollout | undefined> => {
    const { version } = store
    if (seen?.version !== version) seen = { version, found: await look() }
    const { open, newest } = seen.found
    const { set } = current
    const isOf = (one: RootsRollout | undefined): boolean =>
      one !== undefined && compareNumbers(one.subject, set) === 0
    // Another hub may have put the next one in force: this one is about to follow, and until then offers nobody more than before.
    const isBehind = newest !== undefined && compareNumbers(newest, set) > 0
    if (!isBehind) own = isOf(open) ? open : undefined
    else if (open !== undefined) return open
    return isOf(own) ? own : undefined
  }
  return {
    offerTo: async ({ id }) => {
      const held = await findHeldBack()
      if (held === undefined) return current.reply
      const { epoch, base, number } = held.subject
      // Where the next set superseded it, the agent may have adopted what it was offered, and not said so yet.
      const offered = (await reader.rollouts.findOfferedNumber(id, epoch)) ?? 0
      const [trust] = await reader.listAgentTrust([id])
      const least = Math.max(base, offered, trust?.number ?? 0)
      return (await findUpTo({ epoch, number: Math.min(least, number) })).reply
    },
    enrolmentTrust: async () => {
      const held = await findHeldBack()
      if (held === undefined) return current.enrolmentTrust
      const { epoch, base } = held.subject
      return (await findUpTo({ epoch, number: base })).enrolmentTrust
    },
  }
}

interface Found {
  readonly open: RootsRollout | undefined
  /** The set in force in the vault. */
  readonly newest: SetNumber | undefined
}

function compareNumbers(one: SetNumber, other: SetNumber): number {
  return one.epoch - other.epoch || one.number - other.number
}
