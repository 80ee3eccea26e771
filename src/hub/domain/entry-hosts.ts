// The hosts that an entry of the log is about, as far as the entry says so. docs/protocol.md WHK-18.

import type { SelectableHost } from '../../protocol/selector.ts'
import type { AuditEntry } from './audit-entry.ts'

/** At most one of the two is not empty. */
export interface EntryHosts {
  readonly agentIds: readonly string[]
  readonly hostnames: readonly string[]
  /** What the entry itself says of its one hostname: nobody may know that host yet. */
  readonly said: SelectableHost | undefined
}

type Entry = Pick<AuditEntry, 'agentId' | 'deliveryId' | 'payloadText'>

const NONE: EntryHosts = { agentIds: [], hostnames: [], said: undefined }

/** An agent's event is about its sender, whatever its payload says. `deliveryAgent` is the agent of the entry's entrega. */
export function hostsOfEntry(entry: Entry, deliveryAgent: string | undefined): EntryHosts {
  if (entry.agentId !== null) return { ...NONE, agentIds: [entry.agentId] }
  const payload = parsePayload(entry.payloadText)
  const { agente_id: agent = deliveryAgent, hostname, agentes } = payload
  if (typeof agent === 'string') return { ...NONE, agentIds: [agent] }
  if (typeof hostname === 'string') {
    return { ...NONE, hostnames: [hostname], said: saidOf(hostname, payload) }
  }
  return { ...NONE, hostnames: Array.isArray(agentes) ? agentes.filter(isText) : [] }
}

export function isAboutHosts({ agentIds, hostnames }: EntryHosts): boolean {
  return agentIds.length + hostnames.length > 0
}

function saidOf(hostname: string, { role, labels }: Payload): SelectableHost {
  const pairs = typeof labels === 'object' && labels !== null ? Object.entries(labels) : []
  return {
    hostname,
    role: isText(role) ? role : '',
    labels: new Map(pairs.filter((pair): pair is [string, string] => isText(pair[1]))),
  }
}

type Payload = Readonly<Record<string, unknown>>

function parsePayload(text: string): Payload {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Payload) : {}
  } catch {
    return {}
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
