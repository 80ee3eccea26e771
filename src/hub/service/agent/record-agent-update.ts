// What an agent says of the update that was announced to it, for the rollout that announced it. docs/protocol.md RLO-39.

import { Check } from 'typebox/value'
import {
  AgentNotUpdatedPayload,
  AgentUpdatedPayload,
  type EventRequestBody,
} from '../../../protocol/schemas.ts'
import type { RolloutId } from '../../../protocol/identifiers.ts'
import { EventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { UpdateReport } from '../../store/rollout-store.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Any other event, or payload, says nothing of it. */
export async function recordAgentUpdate(
  writer: StoreWriter,
  { id }: Agent,
  event: EventRequestBody,
): Promise<void> {
  const report = readReport(event)
  if (report !== undefined) await writer.rollouts.settleUpdate(id, report)
}

function readReport({ tipo_evento: type, payload }: EventRequestBody): UpdateReport | undefined {
  if (type === EventType.agentUpdated && Check(AgentUpdatedPayload, payload)) {
    return { ...announcementIn(payload), state: 'done', error: null }
  }
  if (type !== EventType.agentUpdateFailed && type !== EventType.agentUpdateDeclined)
    return undefined
  if (!Check(AgentNotUpdatedPayload, payload)) return undefined
  const state = type === EventType.agentUpdateFailed ? 'failed' : 'declined'
  return { ...announcementIn(payload), state, error: payload.erro }
}

function announcementIn({
  versao,
  rollout,
}: AgentUpdatedPayload): Pick<UpdateReport, 'version' | 'rollout'> {
  return { version: versao, rollout: rollout as RolloutId | undefined }
}
