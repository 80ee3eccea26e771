import { WeakValues } from '../../../platform/weak-values.ts'
import { isUuid, type CargoId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { CargoContent, ContentSummary } from '../../domain/cargo.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { LIVE_STATUSES } from '../../domain/delivery.ts'

export interface Blob {
  readonly summary: ContentSummary
  /** Of a newer version than the summary when one came between; undefined when the carga was removed. */
  readonly read: () => Promise<Pick<CargoContent, 'bytes' | 'sha256'> | undefined>
}

export type FindBlob = (agent: Agent, cargoId: string) => Promise<Blob | undefined>

/** The content of a carga, for an agent that has a live entrega of the carga. docs/protocol.md BLB. */
export function createFindBlob({ reader }: Store): FindBlob {
  // All agents of a carga fetch the same bytes at about the same time: one copy serves them, for as long as one is read.
  const underWay = new WeakValues<ContentSummary['sha256'], Uint8Array>()
  const read = async (id: CargoId, { sha256 }: ContentSummary): ReturnType<Blob['read']> => {
    const bytes = underWay.get(sha256)
    if (bytes !== undefined) return { sha256, bytes }
    const content = await reader.findContent(id)
    if (content !== undefined) underWay.set(content.sha256, content.bytes)
    return content
  }
  return async (agent, wanted) => {
    if (!isUuid(wanted)) return undefined
    const id = wanted as CargoId
    if (!(await hasLiveDelivery(reader, agent, id))) return undefined
    const summary = await reader.summarizeContent(id)
    return summary && { summary, read: () => read(id, summary) }
  }
}

async function hasLiveDelivery(
  reader: StoreReader,
  agent: Agent,
  cargoId: CargoId,
): Promise<boolean> {
  const filter = { agentId: agent.id, cargoId, statuses: LIVE_STATUSES }
  return (await reader.listDeliveries(filter)).length > 0
}
