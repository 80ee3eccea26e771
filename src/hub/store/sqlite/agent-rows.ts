import type { Agent } from '../../domain/agent.ts'
import type { AgentRequests } from '../../domain/agent-requests.ts'
import { type Instant, fromDate, toDate } from './instants.ts'

export interface AgentRow {
  id: Agent['id']
  hostname: Agent['hostname']
  role: string
  token_hash: Agent['enrolledWith']
  created_at: Instant
  last_seen_at: Instant | null
  revoked_at: Instant | null
  removed_at: Instant | null
  active_identity_seq: number | null
  active_identity_since: Instant | null
}

export interface AgentRequestsRow {
  sync_at: Instant | null
  rotate_at: Instant | null
  rotate_after_seq: number | null
}

export function toAgent(row: AgentRow): Agent {
  const { active_identity_seq: seq, active_identity_since: since } = row
  return {
    id: row.id,
    hostname: row.hostname,
    role: row.role,
    enrolledWith: row.token_hash,
    createdAt: new Date(row.created_at),
    lastSeenAt: toDate(row.last_seen_at),
    revokedAt: toDate(row.revoked_at),
    removedAt: toDate(row.removed_at),
    activeIdentity: seq === null || since === null ? null : { seq, since: new Date(since) },
  }
}

export function fromAgent(agent: Agent): AgentRow {
  return {
    id: agent.id,
    hostname: agent.hostname,
    role: agent.role,
    token_hash: agent.enrolledWith,
    created_at: agent.createdAt.getTime(),
    last_seen_at: fromDate(agent.lastSeenAt),
    revoked_at: fromDate(agent.revokedAt),
    removed_at: fromDate(agent.removedAt),
    active_identity_seq: agent.activeIdentity?.seq ?? null,
    active_identity_since: fromDate(agent.activeIdentity?.since ?? null),
  }
}

/** An agent that nothing was asked of has no row. */
export function toAgentRequests(row: AgentRequestsRow | undefined): AgentRequests {
  const { sync_at: syncAt = null, rotate_at: rotateAt = null } = row ?? {}
  const afterSeq = row?.rotate_after_seq ?? 0
  return {
    syncAt: syncAt === null ? null : new Date(syncAt),
    rotation: rotateAt === null ? null : { at: new Date(rotateAt), afterSeq },
  }
}
