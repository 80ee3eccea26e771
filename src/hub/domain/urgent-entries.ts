// What an endpoint for people gets when nobody chose types: the entries that a person should look at. docs/protocol.md WHK-27.

import { kindOf, URGENT_TYPES } from '../../explain/entry-kinds.ts'
import { isForPeople } from '../../protocol/is-for-people.ts'
import type { AuditEntry } from './audit-entry.ts'
import type { Webhook } from './webhook.ts'
import { isSent } from './webhook-message.ts'

const SENT_BY_DEFAULT: readonly string[] = URGENT_TYPES.filter((eventType) => isSent({ eventType }))

/** An empty list means all types. */
export function sentTypes({ url, types }: Pick<Webhook, 'url' | 'types'>): readonly string[] {
  return types.length === 0 && isForPeople(url) ? SENT_BY_DEFAULT : types
}

/** An agent that sends what only the hub can say calls no person. */
export function isChosenByDefault({ eventType, agentId }: AuditEntry): boolean {
  return kindOf(eventType, agentId !== null)?.severity === 'urgent'
}
