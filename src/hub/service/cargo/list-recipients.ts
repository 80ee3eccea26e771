// What a person who seals a file asks first: for which recipients, and what the carga holds now.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRecipients } from '../../../protocol/admin/views.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Step, StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { cargoAgents, matchingAgents } from './cargo-agents.ts'
import type { CargoContext } from './cargo-context.ts'
import { findSealedCargo } from './find-cargo.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'
import { matchingSlices } from './selection-walk.ts'

export const listRecipients: Read<'listRecipients', Pick<CargoContext, 'contentBytesMax'>> = async (
  reader,
  request,
  { contentBytesMax },
) => {
  const { slices, cargo, escrow } =
    request.carga === undefined
      ? { slices: agentsWanted(reader, request), cargo: undefined, escrow: [] }
      : await findSealedFor(reader, request.carga)
  const agentes: AdminRecipients['agentes'] = []
  for await (const agents of slices) {
    agentes.push(...(await describeAgents(reader, agents)))
    await nextTurn()
  }
  if (cargo !== undefined) {
    for await (const { lacking } of matchingSlices(reader, cargo)) {
      const waiting = lacking.filter(({ reason }) => reason?.code === 'not_sealed')
      const described = await describeAgents(
        reader,
        waiting.map(({ agent }) => agent),
      )
      agentes.push(...described.map((each) => ({ ...each, waits: true as const })))
    }
  }
  return { agentes, escrow: [...escrow], content_bytes_max: contentBytesMax }
}

function agentsWanted(
  reader: StoreReader,
  { where, agentes, roles }: AdminRequest<'listRecipients'>,
): AsyncIterable<readonly Agent[]> {
  if (where === undefined) return cargoAgents(reader, { agentes, roles })
  if (agentes.length + roles.length > 0) {
    throw new AdminRefusal('agents_unwanted', 'where does not go together with agentes or roles')
  }
  return matchingAgents(reader, parseDecidingWhere(where))
}

async function describeAgents(
  reader: StoreReader,
  agents: readonly Agent[],
): Promise<AdminRecipients['agentes']> {
  const described: AdminRecipients['agentes'] = []
  for (const { id, hostname, role } of agents) {
    described.push({ id, hostname, role, recipient: (await reader.findRecipient(id)) ?? null })
  }
  return described
}

interface SealedFor {
  readonly slices: AsyncIterable<readonly Agent[]>
  readonly cargo: Cargo
  readonly escrow: readonly Recipient[]
}

async function findSealedFor(reader: StoreReader, id: string): Promise<SealedFor> {
  const { cargo, content } = await findSealedCargo(reader, id)
  return { slices: agentsOfCargo(reader, cargo), cargo, escrow: content.escrow }
}

/** The agents that the next version of a sealed cargo is for: never a revoked agent. */
async function* agentsOfCargo(reader: StoreReader, { id }: Cargo): AsyncGenerator<Agent[]> {
  let after: number | null = 0
  while (after !== null) {
    const step: Step = { after, limit: SLICE_DELIVERIES }
    const { deliveries, next } = await reader.listCargoDeliveries(id, step)
    const agents = await reader.findAgents(deliveries.map(({ agentId }) => agentId))
    yield agents.filter(({ revokedAt }) => revokedAt === null)
    after = next
  }
}

export const readContent: Read<'readContent'> = async (reader, request) => {
  const { cargo, content } = await findSealedCargo(reader, request.carga)
  return {
    carga_id: cargo.id,
    versao: cargo.version,
    sha256: content.sha256,
    conteudo: Buffer.from(content.bytes).toString('base64'),
  }
}
