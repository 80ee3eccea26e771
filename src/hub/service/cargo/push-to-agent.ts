// What an operator sends to one agent at once: look, renew your identity, or have this file. docs/protocol.md PSH-10.

import { type AdminAct, AdminRefusal, type Write } from '../admin-act.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import type { Selector } from '../../../protocol/selector.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { AgentNotifier } from '../../domain/agent-notifier.ts'
import { askForRotation } from '../ask-for-rotation.ts'
import { findAgent } from '../find-agent.ts'
import type { CargoContext } from './cargo-context.ts'
import { parsePushedFile, pushFile } from './push-file.ts'

interface PushContext extends Pick<CargoContext, 'clock'> {
  /** Undefined beside a vault that no hub has open: everybody is offline. */
  readonly notifier?: AgentNotifier
}

/** What is done inside the write; `deliveryId` when it is a file. */
type Push = (
  writer: StoreWriter,
  agent: Agent,
  now: Date,
) => Promise<{ readonly act: AdminAct; readonly deliveryId?: DeliveryId }>

/** An agent that is offline gets it when it is back. */
export const pushToAgent: Write<'pushToAgent', PushContext> = async (
  writer,
  request,
  { clock, notifier, only },
) => {
  const push = parsePush(request)
  const agent = await findPushable(writer, request.agente, only)
  const { act, deliveryId } = await push(writer, agent, clock.now())
  const online = notifier?.isOnline(agent.id) ?? false
  return {
    acts: [act],
    reply: { ...(deliveryId === undefined ? {} : { entrega_id: deliveryId }), online },
    news: { agents: [agent.id] },
  }
}

function parsePush({ acao, nome, conteudo, modo }: AdminRequest<'pushToAgent'>): Push {
  const hasFile = nome !== undefined && conteudo !== undefined
  const hasPartOfFile = (nome ?? conteudo ?? modo) !== undefined
  if (acao !== undefined && !hasPartOfFile) return acao === 'sync' ? requestSync : requestRotation
  if (acao !== undefined || !hasFile) {
    throw new AdminRefusal('request_invalid', 'give either acao, or nome and conteudo')
  }
  const file = parsePushedFile({ nome, conteudo, modo })
  return (writer, agent, now) => pushFile(writer, agent, file, now)
}

async function findPushable(
  reader: StoreReader,
  wanted: string,
  only: Selector | undefined,
): Promise<Agent> {
  const agent = await findAgent(reader, wanted, only)
  if (agent.revokedAt === null && agent.removedAt === null) return agent
  throw new AdminRefusal('agent_revoked', `agent ${agent.hostname} is revoked`)
}

const requestSync: Push = async (writer, agent, now) => {
  await writer.requestSync(agent.id, now)
  return { act: { type: HubEventType.agentSyncRequested, payload: nameOf(agent) } }
}

const requestRotation: Push = async (writer, agent, now) => {
  await askForRotation(writer, agent.id, now)
  return { act: { type: HubEventType.agentRotateRequested, payload: nameOf(agent) } }
}

function nameOf({ id, hostname }: Agent) {
  return { agente_id: id, hostname }
}
