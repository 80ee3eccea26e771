// What whoever seals a file asks first: for whom, and what the carga holds now.

import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import type { Recipient } from '../../protocol/identifiers.ts'
import type { Agent } from '../domain/agent.ts'
import type { StoreReader } from '../store/store.ts'
import { findCargoAgents } from './cargo-agents.ts'
import { findSealedCargo } from './find-cargo.ts'
import { listSealedDeliveries } from './replace-delivery.ts'

export async function listRecipients(
  reader: StoreReader,
  contentBytesMax: number,
  request: AdminRequest<'listRecipients'>,
): Promise<AdminReplies['listRecipients']> {
  const { agents, escrow } =
    request.carga === undefined
      ? { agents: await findCargoAgents(reader, request), escrow: [] }
      : await findSealedFor(reader, request.carga)
  const agentes = []
  for (const { id, hostname, role } of agents) {
    agentes.push({ id, hostname, role, recipient: (await reader.findRecipient(id)) ?? null })
  }
  return { agentes, escrow: [...escrow], content_bytes_max: contentBytesMax }
}

async function findSealedFor(
  reader: StoreReader,
  id: string,
): Promise<{ readonly agents: readonly Agent[]; readonly escrow: readonly Recipient[] }> {
  const { cargo, content } = await findSealedCargo(reader, id)
  const agents: Agent[] = []
  for (const { agentId } of await listSealedDeliveries(reader, cargo.id)) {
    const agent = await reader.findAgentById(agentId)
    if (agent !== undefined) agents.push(agent)
  }
  return { agents, escrow: content.escrow }
}

export async function readContent(
  reader: StoreReader,
  request: AdminRequest<'readContent'>,
): Promise<AdminReplies['readContent']> {
  const { cargo, content } = await findSealedCargo(reader, request.carga)
  return {
    carga_id: cargo.id,
    versao: cargo.version,
    sha256: content.sha256,
    conteudo: Buffer.from(content.bytes).toString('base64'),
  }
}
