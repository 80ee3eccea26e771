import { Check } from 'typebox/value'
import {
  findKeyFault,
  findValueFault,
  type Labels,
  REPORTED_LABELS_MAX,
  REPORTED_PREFIX,
} from '../../../protocol/labels.ts'
import { AgentStartedPayload, type EventRequestBody } from '../../../protocol/schemas.ts'
import { EventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import { findLabelChange, withReported } from '../../domain/label-change.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Keeps what an agent says of its host when it starts, when that is something new. docs/protocol.md LBL-12, LBL-13. */
export async function recordReportedLabels(
  writer: StoreWriter,
  { id: agentId }: Agent,
  { tipo_evento: type, payload }: EventRequestBody,
): Promise<void> {
  if (type !== EventType.agentStarted) return
  const reported = parseReported(payload)
  if (reported === undefined) return
  const before = (await writer.listLabels([agentId])).get(agentId) ?? new Map<string, string>()
  const change = findLabelChange(agentId, before, withReported(before, reported))
  if (change !== undefined) await writer.changeLabels([change])
}

/** An agent that says no labels has none; what is no set of labels says nothing. */
function parseReported(payload: EventRequestBody['payload']): Labels | undefined {
  if (!Check(AgentStartedPayload, payload)) return undefined
  const labels = Object.entries(payload.labels ?? {})
  if (labels.length > REPORTED_LABELS_MAX) return undefined
  const named = labels.map(([key, value]) => [`${REPORTED_PREFIX}${key}`, value] as const)
  const isFine = ([key, value]: readonly [string, string]): boolean =>
    key !== REPORTED_PREFIX && (findKeyFault(key) ?? findValueFault(value)) === undefined
  return named.every(isFine) ? new Map(named) : undefined
}
