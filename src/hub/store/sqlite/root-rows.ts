import type { AgentTrust, RootSet, SetTrust } from '../../domain/root-set.ts'
import type { Instant } from './instants.ts'

export interface RootSetRow {
  epoca: number
  numero: number
  roots: string
  created_at: Instant
  /** JSON of SetTrust. */
  confianca: string | null
}

export interface AgentTrustRow {
  agente_id: AgentTrust['agentId']
  numero: number | null
  fingerprints: string
  pinned: string | null
  erro: string | null
  reported_at: Instant
}

export function toRootSet(row: RootSetRow): RootSet {
  const { epoca: epoch, numero: number, roots: pem, confianca } = row
  return {
    epoch,
    number,
    pem,
    createdAt: new Date(row.created_at),
    ...(confianca !== null && { trust: JSON.parse(confianca) as SetTrust }),
  }
}

export function fromRootSet({ epoch, number, pem, createdAt, trust }: RootSet): RootSetRow {
  return {
    epoca: epoch,
    numero: number,
    roots: pem,
    created_at: createdAt.getTime(),
    confianca: trust === undefined ? null : JSON.stringify(trust),
  }
}

export function toAgentTrust(row: AgentTrustRow): AgentTrust {
  return {
    agentId: row.agente_id,
    number: row.numero,
    fingerprints: JSON.parse(row.fingerprints) as string[],
    pinned: row.pinned === null ? null : (JSON.parse(row.pinned) as string[]),
    error: row.erro,
    reportedAt: new Date(row.reported_at),
  }
}

export function fromAgentTrust(trust: AgentTrust): AgentTrustRow {
  return {
    agente_id: trust.agentId,
    numero: trust.number,
    fingerprints: JSON.stringify(trust.fingerprints),
    pinned: trust.pinned === null ? null : JSON.stringify(trust.pinned),
    erro: trust.error,
    reported_at: trust.reportedAt.getTime(),
  }
}
