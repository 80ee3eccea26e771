// The certificates in use as an operator lists them: the first to end first, all of them, those of one state, or those of
// one agent. A page starts after a certificate, whether it is still in use or not: its end and its agent never change.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { NamedCertificateInUse } from '../../domain/fleet.ts'
import type { CertificateState } from '../../../protocol/admin/certificados.ts'
import type { CertificatePage, CertificateSelection } from '../list-store.ts'
import type { CertificateRow } from './certificate-rows.ts'
import { type InUseRow, toInUse } from './fleet-query.ts'
import { type EndRange, findLateRanges, IS_LATE, LATE_FROM, parametersOf } from './late-hosts.ts'
import type { NamedParameters, SqlSession } from './sql-session.ts'

interface NamedRow extends InUseRow {
  sha256: string
  serial: string
}

/** In the order of `validades_por_fim`. */
const IN_USE_PLACE = 'not_after, not_before, agente_id, certificado'
const IS_RENEWING = `not_after <= @nowMs + @thresholdMs
  AND not_after - min(@thresholdMs, (not_after - not_before) / 3) <= @nowMs`

/** `stateOfCertificate` of the domain, in SQL, each with the range that the index knows; a test holds the two together. */
const IN_STATE: Readonly<Record<CertificateState, string>> = {
  expired: 'not_after <= @nowMs',
  late: `not_after > @nowMs AND ${IS_LATE}`,
  renewing: `not_after > @nowMs AND ${IS_RENEWING} AND NOT (${IS_LATE})`,
  fresh: `not_after > @nowMs AND NOT (${IS_RENEWING})`,
}

/** Before every certificate. */
const BEGINNING: NamedParameters = {
  end: Number.MIN_SAFE_INTEGER,
  begin: 0,
  owner: '',
  seq: 0,
}

/** Undefined when there never was a certificate with the SHA-256 that the page is to start after. */
export function selectCertificatesInUse(
  session: SqlSession,
  { after, limit, ...selection }: CertificatePage,
): NamedCertificateInUse[] | undefined {
  const start = after === undefined ? undefined : findPlace(session, after)
  if (after !== undefined && start === undefined) return undefined
  if (selection.state === 'late' && selection.agentId === undefined) {
    return selectLateInUse(session, selection, start, limit)
  }
  const { sql, named } = choose(selection)
  const wanted = `SELECT certificado ${sql}
      AND (${IN_USE_PLACE}) > (@end, @begin, @owner, @seq) ORDER BY ${IN_USE_PLACE} LIMIT @limit`
  const all = sqlOfNamed(wanted)
  const rows = session.all<NamedRow>(all, { ...named, ...(start ?? BEGINNING), limit })
  return rows.map(toNamed)
}

/** Only what lies where late ones are is looked at: of what lives a short time there may be any number beside. */
function selectLateInUse(
  session: SqlSession,
  selection: CertificateSelection,
  start: NamedParameters | undefined,
  limit: number,
): NamedCertificateInUse[] {
  const wanted = `SELECT certificado FROM validades INDEXED BY validades_por_fim
    WHERE (${IN_USE_PLACE}) > (@end, @begin, @owner, @seq) AND not_after <= @untilMs
      AND ${LATE_FROM} <= @nowMs ORDER BY ${IN_USE_PLACE} LIMIT @left`
  const sql = sqlOfNamed(wanted)
  const rows: NamedRow[] = []
  for (const { fromMs, untilMs } of lateRangesOf(session, selection)) {
    const left = limit - rows.length
    if (left <= 0) break
    const startMs = Number(start?.['end'] ?? Number.MIN_SAFE_INTEGER)
    if (startMs > untilMs) continue
    const place = start !== undefined && startMs >= fromMs ? start : { ...BEGINNING, end: fromMs }
    const named = { ...parametersOf(selection), ...place, untilMs, left }
    rows.push(...session.all<NamedRow>(sql, named))
  }
  return rows.map(toNamed)
}

/** At most `limit` are counted. */
function countLateInUse(
  session: SqlSession,
  selection: CertificateSelection,
  limit: number,
): number {
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM json_each(@ranges)
      CROSS JOIN validades INDEXED BY validades_por_fim
        ON not_after >= value ->> 'fromMs' AND not_after <= value ->> 'untilMs'
    WHERE ${LATE_FROM} <= @nowMs LIMIT @limit)`
  const ranges = JSON.stringify(lateRangesOf(session, selection))
  const named = { ...parametersOf(selection), ranges, limit }
  return session.get<{ count: number }>(sql, named)?.count ?? 0
}

function lateRangesOf(
  session: SqlSession,
  { endsBefore, ...rule }: CertificateSelection,
): readonly EndRange[] {
  const lastMs = (endsBefore?.getTime() ?? Number.MAX_SAFE_INTEGER) - 1
  return findLateRanges(session, rule, rule.now.getTime() + 1)
    .map(({ fromMs, untilMs }) => ({ fromMs, untilMs: Math.min(untilMs, lastMs) }))
    .filter(({ fromMs, untilMs }) => fromMs <= untilMs)
}

/** Of each agent the one that ends first. */
export function selectFirstOfAgents(
  session: SqlSession,
  agentIds: readonly AgentId[],
): NamedCertificateInUse[] {
  const first = `SELECT certificado FROM validades INDEXED BY validades_por_agente
    WHERE agente_id = wanted.value ORDER BY not_after, not_before, certificado LIMIT 1`
  const sql = sqlOfNamed(`SELECT (${first}) AS certificado FROM json_each(?) AS wanted`)
  return session.all<NamedRow>(sql, JSON.stringify(agentIds)).map(toNamed)
}

/** Of the numbers that a statement answers. */
function sqlOfNamed(wanted: string): string {
  return `SELECT validades.agente_id, hostname, validades.purpose, validades.entrega_id, nome,
      validades.not_before, validades.not_after, sha256, serial
    FROM (${wanted}) AS wanted
      CROSS JOIN validades ON validades.certificado = wanted.certificado
      CROSS JOIN certificados ON certificados.seq = wanted.certificado
      CROSS JOIN agentes ON agentes.id = validades.agente_id
      LEFT JOIN entregas ON entregas.id = validades.entrega_id
      LEFT JOIN cargas ON cargas.id = carga_id
    ORDER BY validades.not_after, validades.not_before, validades.agente_id, validades.certificado`
}

function toNamed(row: NamedRow): NamedCertificateInUse {
  return { ...toInUse(row), sha256: row.sha256, serial: row.serial }
}

/** At most `limit` are counted. */
export function countCertificatesInUse(
  session: SqlSession,
  selection: CertificateSelection,
  limit: number,
): number {
  const { agentId, state, endsBefore } = selection
  if (agentId === undefined && state === undefined && endsBefore === undefined) {
    const all = "SELECT sum(total) AS count FROM contagens WHERE tabela = 'validades'"
    return Math.min(session.get<{ count: number | null }>(all)?.count ?? 0, limit)
  }
  if (state === 'late' && agentId === undefined) return countLateInUse(session, selection, limit)
  const { sql, named } = choose(selection)
  const counted = `SELECT count(*) AS count FROM (SELECT 1 ${sql} LIMIT @limit)`
  return session.get<{ count: number }>(counted, { ...named, limit })?.count ?? 0
}

function choose({ agentId, state, endsBefore, ...rule }: CertificateSelection): {
  readonly sql: string
  readonly named: NamedParameters
} {
  const index = agentId === undefined ? 'validades_por_fim' : 'validades_por_agente'
  const conditions = [
    agentId === undefined ? 'true' : 'agente_id = @agentId',
    state === undefined ? 'true' : IN_STATE[state],
    endsBefore === undefined ? 'true' : 'not_after < @endsBeforeMs',
  ]
  return {
    sql: `FROM validades INDEXED BY ${index} WHERE ${conditions.join(' AND ')}`,
    named: {
      ...(agentId !== undefined && { agentId }),
      ...(endsBefore !== undefined && { endsBeforeMs: endsBefore.getTime() }),
      ...(state === 'late' || state === 'renewing' || state === 'fresh'
        ? parametersOf(rule)
        : state === 'expired' && { nowMs: rule.now.getTime() }),
    },
  }
}

function findPlace(session: SqlSession, sha256: string): NamedParameters | undefined {
  const sql = 'SELECT seq, agente_id, not_before, not_after FROM certificados WHERE sha256 = ?'
  const row = session.get<Pick<CertificateRow, 'seq' | 'agente_id' | 'not_before' | 'not_after'>>(
    sql,
    sha256,
  )
  return row && { end: row.not_after, begin: row.not_before, owner: row.agente_id, seq: row.seq }
}
