// The admin operations that give agents something new, with the announcement of it: after the commit, never before.

import type { AdminOperations } from '../../protocol/admin.ts'
import type { AgentId, CargoId } from '../../protocol/identifiers.ts'
import type { StoreReader } from '../store/store.ts'
import type { AgentNotifier } from './agent-notifier.ts'

export function announceChanges(
  operations: AdminOperations,
  reader: StoreReader,
  notifier: AgentNotifier,
): AdminOperations {
  const announcing = async <T>(reply: T, deliveries: (reply: T) => readonly Of[]): Promise<T> => {
    notifier.announce(deliveries(reply).map(({ agente_id: id }) => id as AgentId))
    return reply
  }
  return {
    ...operations,
    createCargo: async (request) =>
      announcing(await operations.createCargo(request), ({ entregas }) => entregas),
    updateCargo: async (request) =>
      announcing(await operations.updateCargo(request), ({ entregas }) => entregas),
    removeCargo: async (request) => {
      const reply = await operations.removeCargo(request)
      const deliveries = await reader.listDeliveries({ cargoId: reply.id as CargoId })
      notifier.announce(deliveries.map(({ agentId }) => agentId))
      return reply
    },
    cancelDelivery: async (request) =>
      announcing(await operations.cancelDelivery(request), (delivery) => [delivery]),
    retryDeliveries: async (request) =>
      announcing(await operations.retryDeliveries(request), ({ entregas }) => entregas),
  }
}

interface Of {
  readonly agente_id: string
}
