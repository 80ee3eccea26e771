// When each agent last polled, in a table of its own: a fleet of 100,000 polls 3,000 times a second, and forty of these rows
// share a page, where a page of `agentes` has eight of its own.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts. */
export const AGENT_POLLS = `
CREATE TABLE agentes_polls (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  last_poll_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO agentes_polls SELECT id, last_poll_at FROM agentes WHERE last_poll_at IS NOT NULL ORDER BY id;
ALTER TABLE agentes DROP COLUMN last_poll_at;
`

export function selectLastPolls(
  session: SqlSession,
  agentIds: readonly AgentId[],
): ReadonlyMap<AgentId, Date> {
  const sql = `SELECT agente_id, last_poll_at FROM json_each(?) AS wanted
    CROSS JOIN agentes_polls ON agente_id = wanted.value`
  const rows = session.all<{ agente_id: AgentId; last_poll_at: number }>(
    sql,
    JSON.stringify(agentIds),
  )
  return new Map(rows.map((row) => [row.agente_id, new Date(row.last_poll_at)]))
}

export function setPolls(session: SqlSession, polls: ReadonlyMap<AgentId, Date>): void {
  const pairs = [...polls].map(([id, at]) => [id, at.getTime()])
  session.runQuietly(
    `INSERT INTO agentes_polls SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true
     ON CONFLICT DO UPDATE SET last_poll_at = excluded.last_poll_at`,
    JSON.stringify(pairs),
  )
}
