// What each agent's events may add to the log. The debt is a row, written with the entry: a restart forgives nobody.

import type { Clock } from '../../../platform/clock.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import {
  decideEventBudget,
  type EventBudgetVerdict,
  type EventDebt,
  type EventOverdraft,
  type EventRoom,
} from '../../domain/event-budget.ts'
import type { Store, StoreWriter } from '../../store/store.ts'

export interface EventBudget {
  /**
   * Writes an entry of so many bytes, unless the agent may not: asked before anything is written, and once more where `work`
   * charges it.
   */
  spend<T>(
    agentId: AgentId,
    entryBytes: number,
    work: (writer: StoreWriter, charge: ChargeEntry) => Promise<T>,
  ): Promise<T | EventOverdraft>
}

/** Undefined once it is charged; else nothing is to be written. */
export type ChargeEntry = (now: Date) => Promise<EventOverdraft | undefined>

export interface EventBudgetOptions {
  readonly store: Store
  readonly clock: Clock
  /** `Number.POSITIVE_INFINITY` lifts it. */
  readonly bytesPerDay: number
  readonly findRoom: () => Promise<EventRoom>
  readonly onOverdraft?: ((overdraft: EventOverdraft) => void) | undefined
}

/** docs/protocol.md LIM-40, LIM-41. */
export function createEventBudget(options: EventBudgetOptions): EventBudget {
  const { store, clock, bytesPerDay, findRoom, onOverdraft } = options
  return {
    spend: async (agentId, entryBytes, work) => {
      const room = await findRoom()
      const decide = (debt: EventDebt | undefined, now: Date): EventBudgetVerdict =>
        decideEventBudget({ debt, entryBytes, room, bytesPerDay, now })
      const verdict = decide(await store.reader.findEventDebt(agentId), clock.now())
      if (!verdict.ok) {
        onOverdraft?.(verdict)
        return verdict
      }
      const { outcome, overdraft } = await store.write(async (writer) => {
        let refused: EventOverdraft | undefined
        const done = await work(writer, async (now) => {
          // Others of the same agent may have been written since.
          const final = decide(await writer.findEventDebt(agentId), now)
          if (!final.ok) return (refused = final)
          if (final.debt !== undefined) await writer.setEventDebt(agentId, final.debt)
          return undefined
        })
        return { outcome: done, overdraft: refused }
      })
      if (overdraft !== undefined) onOverdraft?.(overdraft)
      return outcome
    },
  }
}
