import type { AgentId } from '../../../protocol/identifiers.ts'
import { formatFileMode } from '../../../protocol/file-mode.ts'
import type { ManifestEntryBody, ManifestReplyBody } from '../../../protocol/schemas.ts'
import { DeliveryKind, DeliveryStatus } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import type { GiveSelected } from '../cargo/give-selected.ts'
import type { PollRecorder } from './record-polls.ts'

export type ListManifest = (agent: Agent) => Promise<ManifestReplyBody>

const OPEN_STATUSES = [DeliveryStatus.pending, DeliveryStatus.inProgress] as const

interface KnownManifest {
  readonly version: number
  readonly manifest: ManifestReplyBody
}

/**
 * The agent’s open deliveries, asked for by itself. docs/protocol.md MAN. For the same agent, as authentication knows it, it
 * is the same object until a commit is about that agent, or about all.
 */
export function createListManifest(
  store: Store,
  polls: PollRecorder,
  giveSelected: GiveSelected,
): ListManifest {
  const known = new WeakMap<Agent, KnownManifest>()
  return async (agent) => {
    polls.record(agent.id)
    const last = known.get(agent)
    if (last !== undefined && store.versionOf(agent.id) <= last.version) return last.manifest
    const hasAll = await giveSelected(agent)
    const { version, reader } = store
    const manifest = await readManifest(reader, agent.id)
    if (hasAll) known.set(agent, { version, manifest })
    return manifest
  }
}

export async function readManifest(
  reader: StoreReader,
  agentId: AgentId,
): Promise<ManifestReplyBody> {
  const deliveries = await reader.listDeliveries({ agentId, statuses: OPEN_STATUSES })
  const entregas: ManifestEntryBody[] = []
  for (const { id, cargoId, cargo, version, status } of deliveries) {
    const entry = { id, carga_id: cargoId, tipo: cargo.kind, nome: cargo.name, versao: version }
    const mode =
      cargo.kind === DeliveryKind.push ? await reader.findContentMode(cargoId) : undefined
    entregas.push({
      ...entry,
      status,
      ...(mode === undefined ? {} : { modo: formatFileMode(mode) }),
    })
  }
  return { entregas }
}
