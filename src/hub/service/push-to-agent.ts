// What an operator sends to one agent at once: look, or renew your identity. docs/protocol.md PSH-10.

import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { Agent } from '../domain/agent.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import type { AgentNotifier } from './agent-notifier.ts'
import { findAgent } from './find-agent.ts'
import { recordHubAct } from './hub-acts.ts'

export interface PushDependencies {
  readonly store: Store
  readonly clock: Clock
  /** Undefined beside a vault that no hub has open: everybody is offline. */
  readonly notifier: AgentNotifier | undefined
}

/** Durable when it is answered; an agent that is offline gets it when it is back. */
export async function pushToAgent(
  { store, clock, notifier }: PushDependencies,
  { agente, acao }: AdminRequest<'pushToAgent'>,
): Promise<AdminReplies['pushToAgent']> {
  const agentId = await store.write(async (writer) => {
    const agent = await findPushable(writer, agente)
    const now = clock.now()
    if (acao === 'sync') await requestSync(writer, agent, now)
    else await requestRotation(writer, agent, now)
    return agent.id
  })
  const online = notifier?.isOnline(agentId) ?? false
  notifier?.announce([agentId])
  return { online }
}

async function findPushable(reader: StoreReader, wanted: string): Promise<Agent> {
  const agent = await findAgent(reader, wanted)
  if (agent.revokedAt === null && agent.removedAt === null) return agent
  throw new UserError('agent_revoked', `agente ${agent.hostname} is revoked`, {
    hint: 'svc token create --reenroll lets a host come back',
  })
}

async function requestSync(writer: StoreWriter, agent: Agent, now: Date): Promise<void> {
  await writer.requestSync(agent.id, now)
  await recordHubAct(writer, now, HubEventType.agentSyncRequested, actOn(agent))
}

async function requestRotation(writer: StoreWriter, agent: Agent, now: Date): Promise<void> {
  const newest = await writer.findNewestIdentity(agent.id)
  await writer.requestRotation(agent.id, { at: now, afterSeq: newest?.seq ?? 0 })
  await recordHubAct(writer, now, HubEventType.agentRotateRequested, actOn(agent))
}

function actOn({ id, hostname }: Agent): { actor: string; agente_id: string; hostname: string } {
  return { actor: 'admin', agente_id: id, hostname }
}
