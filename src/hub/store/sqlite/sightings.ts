// What was last seen of each host, apart from its agent, whose row is read with every request.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { AgentSighting } from '../../domain/agent-sighting.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts. */
export const AGENT_SIGHTINGS = `
CREATE TABLE agentes_vistos (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  version TEXT,
  platform TEXT,
  addresses TEXT NOT NULL CHECK (json_type(addresses) = 'array'),
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`

interface SightingRow {
  agente_id: AgentId
  version: string | null
  platform: string | null
  addresses: string
  changed_at: number
}

export function selectSightings(session: SqlSession, agentIds: readonly AgentId[]) {
  const sql = `SELECT agentes_vistos.* FROM json_each(?) AS wanted
    CROSS JOIN agentes_vistos ON agente_id = wanted.value`
  return session.all<SightingRow>(sql, JSON.stringify(agentIds)).map((row): AgentSighting => ({
    agentId: row.agente_id,
    version: row.version,
    platform: row.platform,
    addresses: JSON.parse(row.addresses) as string[],
    changedAt: new Date(row.changed_at),
  }))
}

export function putSightings(session: SqlSession, sightings: readonly AgentSighting[]): void {
  const rows = sightings.map(({ agentId, version, platform, addresses, changedAt }) => [
    agentId,
    version,
    platform,
    JSON.stringify(addresses),
    changedAt.getTime(),
  ])
  session.runQuietly(
    `INSERT INTO agentes_vistos
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) WHERE true
     ON CONFLICT DO UPDATE SET version = excluded.version, platform = excluded.platform,
       addresses = excluded.addresses, changed_at = excluded.changed_at`,
    JSON.stringify(rows),
  )
}
