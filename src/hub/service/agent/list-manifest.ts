import { isIP } from 'node:net'
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
  reading: ManifestReading = {},
): ListManifest {
  const known = new WeakMap<Agent, KnownManifest>()
  return async (agent) => {
    polls.record(agent.id)
    const last = known.get(agent)
    if (last !== undefined && store.versionOf(agent.id) <= last.version) return last.manifest
    const hasAll = await giveSelected(agent)
    const { version, reader } = store
    const manifest = await readManifest(reader, agent, reading)
    if (hasAll) known.set(agent, { version, manifest })
    return manifest
  }
}

export interface ManifestReading {
  /** The CA takes the names from the CSR, so agents are told them: docs/protocol.md MAN-7. */
  readonly hasNames?: boolean | undefined
}

export async function readManifest(
  reader: StoreReader,
  { id: agentId, hostname }: Pick<Agent, 'id' | 'hostname'>,
  { hasNames = false }: ManifestReading,
): Promise<ManifestReplyBody> {
  const deliveries = await reader.listDeliveries({ agentId, statuses: OPEN_STATUSES })
  const entregas: ManifestEntryBody[] = []
  for (const { id, cargoId, cargo, version, status, sans } of deliveries) {
    const entry = { id, carga_id: cargoId, tipo: cargo.kind, nome: cargo.name, versao: version }
    const mode =
      cargo.kind === DeliveryKind.push ? await reader.findContentMode(cargoId) : undefined
    const isNamed = hasNames && cargo.kind === DeliveryKind.csrCert
    const names = isNamed ? namesForCsr(hostname, sans) : undefined
    entregas.push({
      ...entry,
      status,
      ...(names && { sans: names }),
      ...(mode === undefined ? {} : { modo: formatFileMode(mode) }),
    })
  }
  const announced = await reader.rollouts.findAnnounced(agentId)
  if (announced === undefined) return { entregas }
  const { version: versao, rollout } = announced
  return { entregas, atualizacao: { versao, rollout } }
}

/** None where one is an address: such a CA signs none, and the hub says so when the agent asks. */
function namesForCsr(hostname: string, sans: readonly string[]): string[] | undefined {
  return sans.some((name) => isIP(name) !== 0) ? undefined : [...new Set([hostname, ...sans])]
}
