// How loud an entry is for systems that sort by that. docs/protocol.md WHK-22.

import { EventType, HubEventType } from '../../protocol/words.ts'

export type Severity = 'warning' | 'notice' | 'informational'

/** What failed, was refused, was lost, or is late; and what holds up a rollout. */
const WARNINGS: ReadonlySet<string> = new Set([
  EventType.deliveryFailed,
  EventType.hookFailed,
  EventType.targetReverted,
  EventType.bundleRefused,
  EventType.logAlarm,
  EventType.agentUpdateFailed,
  HubEventType.certificateAnswerLost,
  HubEventType.certificateSuperseded,
  HubEventType.identityUsedTwice,
  HubEventType.lossAccepted,
  HubEventType.certificateLate,
  HubEventType.webhookDisabled,
  HubEventType.certificateNotRevokedAtCa,
  HubEventType.joinRefused,
  HubEventType.adminRefused,
  HubEventType.vaultRestored,
  HubEventType.rolloutFrozen,
  HubEventType.rolloutPaused,
])

/** What the hub did, for operators or by itself, is worth a notice; what agents report is routine. */
export function severityOf(eventType: string, isFromAgent: boolean): Severity {
  if (WARNINGS.has(eventType)) return 'warning'
  return isFromAgent ? 'informational' : 'notice'
}
