// Which set of roots an agent is offered: the one in force, or, while that goes out in waves and has not reached the agent, the one before.
// An agent adopts no lower number: it is offered none below the one that it says it has. docs/protocol.md RLO-30.

import type { BundleReplyBody } from '../../../protocol/schemas.ts'
import type { Agent } from '../../domain/agent.ts'
import type { RootsRollout } from '../../domain/rollout.ts'
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
  let seen: { readonly version: number; readonly open: RootsRollout | undefined } | undefined
  const known = new Map<string, CurrentRootSet>()
  const findUpTo = async (epoch: number, number: number): Promise<CurrentRootSet> => {
    const key = `${epoch} ${number}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const set = await reader.findRootSetUpTo({ epoch, number })
    if (set === undefined) return current
    const found = new CurrentRootSet(set)
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(key, found)
    return found
  }
  const findHeldBack = async () => {
    const { version } = store
    if (seen?.version !== version) seen = { version, open: await findOpenRoots(reader) }
    const { open } = seen
    const { epoch, number } = current.set
    // Another hub may have put the next one in force: this one is about to follow.
    const isOfThis = open?.subject.number === number && open.subject.epoch === epoch
    return isOfThis ? open : undefined
  }
  return {
    offerTo: async ({ id }) => {
      const open = await findHeldBack()
      if (open === undefined) return current.reply
      if ((await reader.rollouts.listReached(open.id, [id])).length > 0) return current.reply
      const [trust] = await reader.listAgentTrust([id])
      const { epoch, base, number } = open.subject
      const least = Math.max(base, trust?.number ?? 0)
      return least >= number ? current.reply : (await findUpTo(epoch, least)).reply
    },
    enrolmentTrust: async () => {
      const open = await findHeldBack()
      if (open === undefined) return current.enrolmentTrust
      return (await findUpTo(open.subject.epoch, open.subject.base)).enrolmentTrust
    },
  }
}
