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
  /** Asked before anything is written; what is granted is charged, or refused after all, where the entry is written. */
  ask(agentId: AgentId, entryBytes: number): Promise<EventGrant | EventOverdraft>
}

export interface EventGrant {
  readonly ok: true
  /** Undefined once it is charged. */
  charge(writer: StoreWriter, now: Date): Promise<EventOverdraft | undefined>
}

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
  const refuse = (overdraft: EventOverdraft): EventOverdraft => {
    onOverdraft?.(overdraft)
    return overdraft
  }
  return {
    ask: async (agentId, entryBytes) => {
      const room = await findRoom()
      const decide = (debt: EventDebt | undefined, now: Date): EventBudgetVerdict =>
        decideEventBudget({ debt, entryBytes, room, bytesPerDay, now })
      const verdict = decide(await store.reader.findEventDebt(agentId), clock.now())
      if (!verdict.ok) return refuse(verdict)
      return {
        ok: true,
        charge: async (writer, now) => {
          // Others of the same agent may have been written since.
          const final = decide(await writer.findEventDebt(agentId), now)
          if (!final.ok) return refuse(final)
          if (final.debt !== undefined) await writer.setEventDebt(agentId, final.debt)
          return undefined
        },
      }
    },
  }
}
