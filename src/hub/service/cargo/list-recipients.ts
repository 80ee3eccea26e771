// What a person who seals a file asks first: for which recipients, and what the carga holds now.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Step, StoreReader } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { cargoAgents } from './cargo-agents.ts'
import type { CargoContext } from './cargo-context.ts'
import { findSealedCargo } from './find-cargo.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

export const listRecipients: Read<'listRecipients', Pick<CargoContext, 'contentBytesMax'>> = async (
  reader,
  request,
  { contentBytesMax },
) => {
  const { slices, escrow } =
    request.carga === undefined
      ? { slices: cargoAgents(reader, request), escrow: [] }
      : await findSealedFor(reader, request.carga)
  const agentes = []
  for await (const agents of slices) {
    for (const { id, hostname, role } of agents) {
      agentes.push({ id, hostname, role, recipient: (await reader.findRecipient(id)) ?? null })
    }
    await nextTurn()
  }
  return { agentes, escrow: [...escrow], content_bytes_max: contentBytesMax }
}

async function findSealedFor(
  reader: StoreReader,
  id: string,
): Promise<{ readonly slices: AsyncIterable<Agent[]>; readonly escrow: readonly Recipient[] }> {
  const { cargo, content } = await findSealedCargo(reader, id)
  return { slices: agentsOfCargo(reader, cargo), escrow: content.escrow }
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
