// What an operator sends to one agent at once: look, renew your identity, or have this file. docs/protocol.md PSH-10.

import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId, DeliveryId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import type { AgentNotifier } from '../agent-notifier.ts'
import { findAgent } from '../find-agent.ts'
import { recordHubAct } from '../hub-acts.ts'
import { parsePushedFile, pushFile } from './push-file.ts'

export interface PushDependencies {
  readonly store: Store
  readonly clock: Clock
  /** Undefined beside a vault that no hub has open: everybody is offline. */
  readonly notifier: AgentNotifier | undefined
}

/** What is done inside the write; answers the entrega when there is one. */
type Act = (
  writer: StoreWriter,
  agent: Agent,
  now: Date,
  actor: Actor,
) => Promise<DeliveryId | undefined>

/** Durable when it is answered; an agent that is offline gets it when it is back. */
export async function pushToAgent(
  { store, clock, notifier }: PushDependencies,
  request: AdminRequest<'pushToAgent'>,
  actor: Actor,
): Promise<AdminReplies['pushToAgent']> {
  const act = parseAct(request)
  const concerned: AgentId[] = []
  const reply = await store.write(async (writer) => {
    const agent = await findPushable(writer, request.agente)
    concerned.push(agent.id)
    const deliveryId = await act(writer, agent, clock.now(), actor)
    const online = notifier?.isOnline(agent.id) ?? false
    return { ...(deliveryId === undefined ? {} : { entrega_id: deliveryId }), online }
  })
  notifier?.announce(concerned)
  return reply
}

function parseAct({ acao, nome, conteudo, modo }: AdminRequest<'pushToAgent'>): Act {
  const hasFile = nome !== undefined && conteudo !== undefined
  const hasPartOfFile = (nome ?? conteudo ?? modo) !== undefined
  if (acao !== undefined && !hasPartOfFile) return acao === 'sync' ? requestSync : requestRotation
  if (acao !== undefined || !hasFile) {
    throw new UserError('request_invalid', 'it is either an acao, or a file: nome and conteudo')
  }
  const file = parsePushedFile({ nome, conteudo, modo })
  return (writer, agent, now, actor) => pushFile(writer, agent, file, now, actor)
}

async function findPushable(reader: StoreReader, wanted: string): Promise<Agent> {
  const agent = await findAgent(reader, wanted)
  if (agent.revokedAt === null && agent.removedAt === null) return agent
  throw new UserError('agent_revoked', `agente ${agent.hostname} is revoked`, {
    hint: 'svc token create --reenroll lets a host come back',
  })
}

const requestSync: Act = async (writer, agent, now, actor) => {
  await writer.requestSync(agent.id, now)
  await recordHubAct(writer, now, HubEventType.agentSyncRequested, actOn(agent, actor))
  return undefined
}

const requestRotation: Act = async (writer, agent, now, actor) => {
  const newest = await writer.findNewestIdentity(agent.id)
  await writer.requestRotation(agent.id, { at: now, afterSeq: newest?.seq ?? 0 })
  await recordHubAct(writer, now, HubEventType.agentRotateRequested, actOn(agent, actor))
  return undefined
}

function actOn(
  { id, hostname }: Agent,
  actor: Actor,
): { actor: Actor; agente_id: string; hostname: string } {
  return { actor, agente_id: id, hostname }
}
