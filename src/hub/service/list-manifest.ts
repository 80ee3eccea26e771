import type { AgentId } from '../../protocol/identifiers.ts'
import type { ManifestReplyBody } from '../../protocol/schemas.ts'
import { DeliveryStatus } from '../../protocol/words.ts'
import type { Agent } from '../domain/agent.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { PollRecorder } from './record-polls.ts'

export type ListManifest = (agent: Agent) => Promise<ManifestReplyBody>

const OPEN_STATUSES = [DeliveryStatus.pending, DeliveryStatus.inProgress] as const

/** The agent’s open deliveries, asked for by itself. docs/protocol.md MAN. */
export function createListManifest(store: Store, polls: PollRecorder): ListManifest {
  return async (agent) => {
    polls.record(agent.id)
    return readManifest(store.reader, agent.id)
  }
}

export async function readManifest(
  reader: StoreReader,
  agentId: AgentId,
): Promise<ManifestReplyBody> {
  const deliveries = await reader.listDeliveries({ agentId, statuses: OPEN_STATUSES })
  return {
    entregas: deliveries.map((delivery) => ({
      id: delivery.id,
      carga_id: delivery.cargoId,
      tipo: delivery.cargo.kind,
      nome: delivery.cargo.name,
      versao: delivery.version,
      status: delivery.status,
    })),
  }
}
