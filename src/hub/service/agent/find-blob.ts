import { WeakValues } from '../../../platform/weak-values.ts'
import { isUuid, type CargoId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { CargoContent, ContentSummary } from '../../domain/cargo.ts'
import type { DeliveryWithCargo, Store, StoreReader } from '../../store/store.ts'
import { isStanding, LIVE_STATUSES } from '../../domain/delivery.ts'

export interface Blob {
  readonly summary: ContentSummary
  /** Of a newer version than the summary when one came between; undefined when the carga was removed. */
  readonly read: () => Promise<Pick<CargoContent, 'bytes' | 'sha256'> | undefined>
}

export type FindBlob = (agent: Agent, cargoId: string) => Promise<Blob | undefined>

/** Of a content: the bytes of the carga, or of the rollout that has given the agent a newer version. */
interface Source {
  readonly summarize: () => Promise<ContentSummary | undefined>
  readonly find: () => Promise<CargoContent | undefined>
}

/** The content of a carga, for an agent that has a live entrega of the carga. docs/protocol.md BLB, RLO-14. */
export function createFindBlob({ reader }: Store): FindBlob {
  // All agents of a carga fetch the same bytes at about the same time: one copy serves them, for as long as one is read.
  const underWay = new WeakValues<ContentSummary['sha256'], Uint8Array>()
  const read = async ({ find }: Source, { sha256 }: ContentSummary): ReturnType<Blob['read']> => {
    const bytes = underWay.get(sha256)
    if (bytes !== undefined) return { sha256, bytes }
    const content = await find()
    if (content !== undefined) underWay.set(content.sha256, content.bytes)
    return content
  }
  return async (agent, wanted) => {
    if (!isUuid(wanted)) return undefined
    const id = wanted as CargoId
    const filter = { agentId: agent.id, cargoId: id, statuses: LIVE_STATUSES }
    const live = await reader.listDeliveries(filter)
    if (live.length === 0) return undefined
    const source = await chooseSource(reader, id, live)
    const summary = await source.summarize()
    return summary && { summary, read: () => read(source, summary) }
  }
}

async function chooseSource(
  reader: StoreReader,
  id: CargoId,
  live: readonly DeliveryWithCargo[],
): Promise<Source> {
  const ahead = live.find((delivery) => isStanding(delivery) && isAhead(delivery))
  const rollout = ahead && (await reader.rollouts.findOpen(id))
  if (rollout === undefined || rollout.subject.version !== ahead?.version) {
    return { summarize: () => reader.summarizeContent(id), find: () => reader.findContent(id) }
  }
  const { rollouts } = reader
  return {
    summarize: () => rollouts.summarizeContent(rollout.id),
    // The last wave may be done since: then the carga has the content.
    find: async () => (await rollouts.findContent(rollout.id)) ?? reader.findContent(id),
  }
}

function isAhead({ version, cargo }: DeliveryWithCargo): boolean {
  return version > cargo.version
}
