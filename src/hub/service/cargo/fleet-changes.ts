// Acts on more entregas than one write may take. One at a time; each is prepared, comes into force in one small commit, and
// is then written down, always a slice at a time, so that everybody else has a turn in between. docs/protocol.md FLT.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { SvcError } from '../../../platform/errors.ts'
import type { FleetAct, FleetChange } from '../../domain/fleet-change.ts'
import { type Leases, ownLeases } from '../../store/leases.ts'
import type { SettledDelivery, Store, StoreWriter } from '../../store/store.ts'
import { type AdminAct, entriesOfActs } from '../admin-act.ts'
import { appendEntries } from '../append-entries.ts'
import type { AgentNotifier } from '../../domain/agent-notifier.ts'
import { cancellation, retrial } from './change-delivery.ts'

/** How far the act that is under way has got. */
export interface ChangeProgress {
  readonly act: FleetAct
  readonly cargoName: string | null
  readonly total: number
  prepared: number
  settled: number
}

export interface FleetChanges {
  /** Starts when the changes before it are done, and after clearing away what a change left that ended early. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** No reader sees a change until it is in force; when the work fails before that, the next turn takes back what it did. */
  change<T>(plan: ChangePlan, work: (change: FleetChange) => Promise<T>): Promise<T>
  /** A slice, in a write of its own. */
  prepare<T extends PreparedSlice>(write: (writer: StoreWriter) => Promise<T>): Promise<T>
  /** Runs after the commit that puts the change in force; resolves when everything is written down. */
  settle(change: FleetChange, of?: Pick<ChangeProgress, 'cargoName' | 'total'>): Promise<void>
  readonly underWay: ChangeProgress | undefined
  /** What is under way ends after its slice. */
  close(): void
}

export interface PreparedSlice {
  /** How many entregas it took. */
  readonly count: number
}

export type ChangePlan = Pick<FleetChange, 'act' | 'cargoId' | 'actor'> &
  Pick<ChangeProgress, 'cargoName' | 'total'>

/** How many entregas one write takes: an act on more of them is done in several. docs/protocol.md FLT-1. */
export const SLICE_DELIVERIES = 250
const WAITING_MAX = 64

export function createFleetChanges(
  plain: Store,
  notifier?: Pick<AgentNotifier, 'announce'>,
  leases: Leases = ownLeases(plain),
): FleetChanges {
  const store = leases.storeFor('changes')
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let isClosed = false
  let progress: ChangeProgress | undefined

  /** Between two slices everybody else has a turn. */
  const slice = async <T>(write: (writer: StoreWriter) => Promise<T>): Promise<T> => {
    if (isClosed) throw new SvcError('store_unavailable', 'the hub stops')
    const answer = await store.write(write)
    await nextTurn()
    return answer
  }
  const settle = async (change: FleetChange): Promise<void> => {
    for (;;) {
      const settled = await slice(async (writer) => {
        const some = await writer.settleChange(change, SLICE_DELIVERIES)
        const at = change.inForceAt ?? new Date(0)
        await appendEntries(writer, entriesOfActs(actsOf(change, some), at, change.actor))
        if (some.length === 0) await writer.deleteChange(change.id)
        else await writer.tellOthers({ agents: some.map(({ agentId }) => agentId) })
        return some
      })
      if (settled.length === 0) return
      if (progress !== undefined) progress.settled += settled.length
      notifier?.announce(settled.map(({ agentId }) => agentId))
    }
  }
  const discard = async ({ id }: Pick<FleetChange, 'id'>): Promise<void> => {
    let taken: number
    do {
      taken = await slice(async (writer) => {
        const count = await writer.discardChange(id, SLICE_DELIVERIES)
        if (count === 0) await writer.deleteChange(id)
        return count
      })
    } while (taken > 0)
  }
  /** Of a hub that was killed, or whose disk was full. */
  const clearAway = async (): Promise<void> => {
    for (const change of await store.reader.listChanges()) {
      await (change.inForceAt === null ? discard(change) : settle(change))
    }
  }
  const inTurn: FleetChanges['inTurn'] = (work) => {
    if (waiting >= WAITING_MAX) {
      return Promise.reject(new SvcError('store_unavailable', 'too many changes are waiting'))
    }
    waiting += 1
    const turn = last.then(() => leases.during('changes', () => clearAway().then(work)))
    last = turn
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1
        progress = undefined
      })
    return turn
  }
  return {
    inTurn,
    change: async ({ cargoName, total, ...plan }, work) => {
      const planned = { ...plan, inForceAt: null }
      const id = await slice((writer) => writer.insertChange(planned))
      progress = { act: plan.act, cargoName, total, prepared: 0, settled: 0 }
      try {
        return await work({ id, ...planned })
      } catch (error) {
        // Nothing waits for that: until it is done, no reader sees what is prepared.
        void inTurn(async () => undefined).catch(() => undefined)
        throw error
      }
    },
    prepare: async (write) => {
      const done = await slice(write)
      if (progress !== undefined) progress.prepared += done.count
      return done
    },
    settle: (change, of) => {
      progress ??= of && { act: change.act, ...of, prepared: of.total, settled: 0 }
      return settle(change)
    },
    get underWay() {
      return progress
    },
    close: () => {
      isClosed = true
    },
  }
}

/** One for each entrega that somebody may look for in the log. */
function actsOf({ act }: FleetChange, settled: readonly SettledDelivery[]): AdminAct[] {
  if (act === 'retry') return settled.map(retrial)
  if (act !== 'remove') return []
  return settled.filter(({ replacedBy }) => replacedBy === null).map(cancellation)
}
