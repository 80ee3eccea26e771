// The admin operations that give agents something new, with the announcement of it: after the commit, never before.

import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { AgentNotifier } from '../agent-notifier.ts'

export function announceChanges(
  operations: AdminOperations,
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
    cancelDelivery: async (request) =>
      announcing(await operations.cancelDelivery(request), (delivery) => [delivery]),
    retryDeliveries: async (request) =>
      announcing(await operations.retryDeliveries(request), ({ entregas }) => entregas),
  }
}

interface Of {
  readonly agente_id: string
}
