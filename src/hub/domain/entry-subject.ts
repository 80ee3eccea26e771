// What an act of the hub is about, in one text: an agent’s id, a hostname, a carga’s id, or who did it. docs/protocol.md CHN-10.

import type { AuditEntry } from './audit-entry.ts'

/** No id and no hostname begins so. */
export const ACTOR_PREFIX = 'ator:'

export function subjectOfActor(actor: string): string {
  return ACTOR_PREFIX + actor
}

const CARGO_ACTS: ReadonlySet<string> = new Set([
  'carga_created',
  'carga_updated',
  'carga_removed',
  'carga_selected',
])
const HOST_ACTS: ReadonlySet<string> = new Set(['agent_enrolled', 'agent_removed'])

/** What the store’s index knows of an act, for one that has left the store; `deliveryAgent` is the agent of its entrega. */
export function subjectsOfAct(
  { eventType, payloadText }: Pick<AuditEntry, 'eventType' | 'payloadText'>,
  deliveryAgent: string | undefined,
): readonly string[] {
  const payload = parsePayload(payloadText)
  if (payload === undefined) return []
  const { actor, agente_id: named = null, hostname, carga_id: cargo } = payload
  const subjects = [
    typeof actor === 'string' ? subjectOfActor(actor) : undefined,
    named ?? deliveryAgent,
    named === null || HOST_ACTS.has(eventType) ? hostname : undefined,
    CARGO_ACTS.has(eventType) ? cargo : undefined,
  ]
  return subjects.filter((subject) => typeof subject === 'string')
}

function parsePayload(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return undefined
  }
}
