// What the status of the trusted roots is gathered from, in slices that others come between: in the order in which rows stand on their
// pages, and without a look at the row of each agent.

import type { Agent } from '../../domain/agent.ts'
import type { AgentTrust } from '../../domain/root-set.ts'
import type {
  RootsPage,
  RootsPart,
  RootsSlice,
  SilentSlice,
  TrustPage,
  TrustSlice,
} from '../summary-store.ts'
import type { Page } from '../store.ts'
import { type AgentRow, toAgent } from './agent-rows.ts'
import { type AgentTrustRow, toAgentTrust } from './root-rows.ts'
import type { NamedParameters, SqlSession } from './sql-session.ts'

interface PartSql {
  /** Of `place` and `seq`: the order, which an index has. */
  readonly from: string
  readonly where: string
  readonly place: string
  readonly seq: string
  /** What it takes to count, beside a certificate that has not ended. */
  readonly joined: string
}

const LIVE_AGENT = 'agentes.revoked_at IS NULL AND agentes.removed_at IS NULL'

const IN_USE: PartSql = {
  from: 'validades',
  where: 'true',
  place: '0',
  seq: 'certificado',
  joined: 'CROSS JOIN certificados AS c ON c.seq = wanted.seq',
}
const UNUSED: PartSql = {
  from: 'certificados INDEXED BY certificados_sem_uso',
  where: `purpose = 'identity' AND first_used_at IS NULL AND revoked_at IS NULL`,
  place: '0',
  seq: 'seq',
  joined: `CROSS JOIN certificados AS c ON c.seq = wanted.seq
    CROSS JOIN agentes ON agentes.id = c.agente_id AND ${LIVE_AGENT}
      AND c.seq >= coalesce(active_identity_seq, 0)
      AND NOT EXISTS (SELECT 1 FROM validades WHERE certificado = c.seq)`,
}
const NOT_INSTALLED: PartSql = {
  from: 'entregas INDEXED BY entregas_por_espera',
  where: 'status = @part',
  place: 'updated_at',
  seq: 'ordem',
  joined: `CROSS JOIN entregas ON entregas.ordem = wanted.seq
    CROSS JOIN agentes ON agentes.id = entregas.agente_id AND ${LIVE_AGENT}
    CROSS JOIN certificados AS c ON c.revoked_at IS NULL
      AND c.seq = (SELECT max(seq) FROM certificados WHERE entrega_id = entregas.id)`,
}

export function selectStandingRoots(
  session: SqlSession,
  { part, now, after, limit }: RootsPage,
): RootsSlice {
  const { from, where, place, seq, joined } = sqlOf(part)
  const isOrdered = place !== '0'
  const order = isOrdered ? `${place}, ${seq}` : seq
  const range = (bound: string, at: string): string =>
    isOrdered ? `(${order}) ${bound} (@${at}Place, @${at}Seq)` : `${seq} ${bound} @${at}Seq`
  const ordered = `FROM ${from} WHERE ${where} AND ${range('>', 'after')}`
  const named: Record<string, string | number> = {
    ...(part !== 'in use' && part !== 'unused' && { part }),
    ...(isOrdered && { afterPlace: after?.place ?? Number.MIN_SAFE_INTEGER }),
    afterSeq: after?.seq ?? -1,
  }
  const last = session.get<{ place: number; seq: number }>(
    `SELECT ${place} AS place, ${seq} AS seq ${ordered} ORDER BY ${order} LIMIT 1 OFFSET @others`,
    { ...named, others: limit - 1 },
  )
  const until: NamedParameters = {
    ...(isOrdered && { untilPlace: last?.place ?? Number.MAX_SAFE_INTEGER }),
    untilSeq: last?.seq ?? Number.MAX_SAFE_INTEGER,
  }
  const counts = session.all<{ root: string | null; count: number }>(
    `SELECT c.raiz AS root, count(*) AS count
     FROM (SELECT ${seq} AS seq ${ordered} AND ${range('<=', 'until')} ORDER BY ${order} LIMIT -1) AS wanted
       ${joined}
     WHERE c.not_after > @nowMs GROUP BY c.raiz`,
    { ...named, ...until, nowMs: now.getTime() },
  )
  return { counts, last: last ?? null }
}

function sqlOf(part: RootsPart): PartSql {
  if (part === 'in use') return IN_USE
  return part === 'unused' ? UNUSED : NOT_INSTALLED
}

interface TrustRow extends AgentTrustRow, Pick<AgentRow, 'hostname'> {}

export function selectTrustBeside(
  session: SqlSession,
  { adopted, number, after = 0, limit }: TrustPage,
): TrustSlice {
  const last = session.get<{ place: number }>(
    `SELECT rowid AS place FROM agentes_raizes WHERE rowid > ? ORDER BY rowid LIMIT 1 OFFSET ?`,
    after,
    limit - 1,
  )
  const rows = session.all<TrustRow>(
    `SELECT wanted.*, agentes.hostname
     FROM (SELECT * FROM agentes_raizes WHERE rowid > @after AND rowid <= @until
         AND ((@number IS NOT NULL AND numero IS NOT @number)
           OR NOT EXISTS (SELECT 1 FROM json_each(@adopted)
             WHERE value ->> 0 = fingerprints AND value ->> 1 IS pinned))
         ORDER BY rowid LIMIT -1) AS wanted
       CROSS JOIN agentes ON agentes.id = wanted.agente_id AND ${LIVE_AGENT}`,
    {
      after,
      until: last?.place ?? Number.MAX_SAFE_INTEGER,
      number: number ?? null,
      adopted: JSON.stringify(adopted.map(textsOf)),
    },
  )
  return {
    said: rows.map((row) => ({ hostname: row.hostname, trust: toAgentTrust(row) })),
    last: last?.place ?? null,
  }
}

/** As root-rows.ts writes them. */
function textsOf({ fingerprints, pinned }: Pick<AgentTrust, 'fingerprints' | 'pinned'>) {
  return [JSON.stringify(fingerprints), pinned === null ? null : JSON.stringify(pinned)]
}

/** Two indexes in the same order: rows are read of those that are found. */
export function selectSilent(session: SqlSession, { after = '', limit }: Page): SilentSlice {
  const last = session.get<{ id: Agent['id'] }>(
    'SELECT id FROM agentes WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
    after,
    limit - 1,
  )
  const rows = session.all<AgentRow>(
    `SELECT agentes.*
     FROM (SELECT id FROM agentes WHERE id > ? AND id <= ?
         AND NOT EXISTS (SELECT 1 FROM agentes_raizes WHERE agente_id = agentes.id)
         ORDER BY id LIMIT -1) AS wanted
       CROSS JOIN agentes ON agentes.id = wanted.id AND ${LIVE_AGENT}`,
    after,
    last?.id ?? '\u{10ffff}',
  )
  return { agents: rows.map(toAgent), last: last?.id ?? null }
}
