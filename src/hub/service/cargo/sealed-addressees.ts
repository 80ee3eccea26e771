import { AdminRefusal } from '../admin-act.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'
import { keepMatchingAgents } from '../agent-slices.ts'
import { refuseSameFiles } from './refuse-agents.ts'
import { listStandingOf } from './replace-delivery.ts'
import { sealedAgents, type SealedFile } from './sealed-file.ts'
import { parseStored } from '../selected-cargoes.ts'

export interface Addressees {
  /** Hostnames of all that the file is sealed for. */
  readonly hostnames: readonly string[]
  /** Those that have no entrega of the carga yet: they match its selector. */
  readonly newcomers: readonly Agent[]
}

/**
 * Whom the next file of a carga is sealed for. Throws the AdminRefusal of a file that is sealed for somebody else than agents, or
 * for a newcomer that may not have it.
 */
export async function readAddressees(
  reader: StoreReader,
  cargo: Cargo,
  file: SealedFile,
): Promise<Addressees> {
  const hostnames: string[] = []
  const newcomers: Agent[] = []
  for await (const agents of sealedAgents(reader, file)) {
    hostnames.push(...agents.map(({ hostname }) => hostname))
    if (cargo.where === null) continue
    const ids = agents.map(({ id }) => id)
    const have = (await listStandingOf(reader, ids)).filter(({ cargoId }) => cargoId === cargo.id)
    const holders = new Set(have.map(({ agentId }) => agentId))
    const some = agents.filter(({ id }) => !holders.has(id))
    await refuseNewcomers(reader, cargo, some)
    newcomers.push(...some)
  }
  return { hostnames, newcomers }
}

/** Throws an AdminRefusal when one of them may not have the carga for the first time. */
export async function refuseNewcomers(
  reader: StoreReader,
  cargo: Cargo,
  agents: readonly Agent[],
): Promise<void> {
  for (const { hostname, revokedAt } of await reader.findAgents(agents.map(({ id }) => id))) {
    if (revokedAt === null) continue
    throw new AdminRefusal('agent_revoked', `agent ${hostname} is revoked`)
  }
  await refuseUnmatched(reader, cargo, agents)
  await refuseSameFiles(reader, agents, cargo)
}

/** Throws an AdminRefusal when one of them does not match the selector that the carga belongs to. */
export async function refuseUnmatched(
  reader: StoreReader,
  { name, where }: Cargo,
  agents: readonly Agent[],
): Promise<void> {
  if (where === null) return
  const matching = await keepMatchingAgents(reader, parseStored(where), agents)
  const ids = new Set(matching.map(({ id }) => id))
  const others = agents.filter(({ id }) => !ids.has(id)).map(({ hostname }) => hostname)
  if (others.length === 0) return
  throw new AdminRefusal(
    'recipients_incomplete',
    `load ${name} belongs to ${where}, and its file is sealed for hosts that do not match: ${others.join(', ')}`,
  )
}

/** Throws an AdminRefusal when a file is not sealed for exactly the agents that have an entrega, named by `hostnames`. */
export function refuseOtherAddressees(
  { name }: Cargo,
  {
    sealedFor,
    hostnames,
  }: { readonly sealedFor: readonly string[]; readonly hostnames: readonly string[] },
): void {
  const readers = new Set(sealedFor)
  const holders = new Set(hostnames)
  const missing = hostnames.filter((hostname) => !readers.has(hostname))
  const unwanted = sealedFor.filter((hostname) => !holders.has(hostname))
  if (missing.length + unwanted.length === 0) return
  const differences = [
    ...(missing.length === 0 ? [] : [`not sealed for ${missing.join(', ')}`]),
    ...(unwanted.length === 0 ? [] : [`sealed for ${unwanted.join(', ')}, without a delivery`]),
  ]
  throw new AdminRefusal(
    'recipients_incomplete',
    `the file is not sealed for exactly the agents of load ${name}: ${differences.join('; ')}`,
  )
}
