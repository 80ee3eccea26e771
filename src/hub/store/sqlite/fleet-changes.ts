// Changes of many entregas: prepared under an id that readers leave out, in force by one small commit, then written down a
// slice at a time. docs/protocol.md FLT.

import type { CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import type { FleetAct, FleetChange } from '../../domain/fleet-change.ts'
import type { SettledDelivery } from '../store.ts'
import { LIVE, replacedOr } from './deliveries.ts'
import { CHECKPOINT_PAGES } from './encrypted-database.ts'
import type { SqlSession } from './sql-session.ts'

interface ChangeRow {
  readonly id: number
  readonly acao: FleetAct
  readonly carga_id: CargoId | null
  readonly actor: FleetChange['actor']
  readonly em_vigor_at: number | null
}

interface SettledRow {
  readonly id: DeliveryId
  readonly agente_id: SettledDelivery['agentId']
  readonly carga_id: CargoId
  readonly substituida_por: DeliveryId | null
}

/**
 * What a change writes goes to other pages all the time, so a long log saves nothing; copying it over when it has its
 * usual length would hold up everybody for longer than a slice does.
 */
const CHECKPOINT_PAGES_UNDER_WAY = 1024

function keepLogShort(session: SqlSession): void {
  session.get(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES_UNDER_WAY}`)
}

export function selectChanges(session: SqlSession): FleetChange[] {
  return session.all<ChangeRow>('SELECT * FROM mudancas ORDER BY id').map((row) => ({
    id: row.id,
    act: row.acao,
    cargoId: row.carga_id,
    actor: row.actor,
    inForceAt: row.em_vigor_at === null ? null : new Date(row.em_vigor_at),
  }))
}

export function insertChange(session: SqlSession, change: Omit<FleetChange, 'id'>): number {
  keepLogShort(session)
  const sql = `INSERT INTO mudancas (acao, carga_id, actor, em_vigor_at) VALUES (?, ?, ?, ?)
    RETURNING id`
  const { act, cargoId, actor, inForceAt } = change
  const row = session.get<{ id: number }>(sql, act, cargoId, actor, inForceAt?.getTime() ?? null)
  return row?.id ?? 0
}

export function putInForce(session: SqlSession, id: number, at: Date): void {
  session.run('UPDATE mudancas SET em_vigor_at = ? WHERE id = ?', at.getTime(), id)
}

export function deleteChange(session: SqlSession, id: number): void {
  session.get(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  session.run('DELETE FROM mudancas WHERE id = ?', id)
}

/** What was replaced, and not on its host, is over: written down for at most `limit` of a change in force. */
export function settleReplaced(
  session: SqlSession,
  { id, inForceAt }: FleetChange,
  limit: number,
): SettledDelivery[] {
  keepLogShort(session)
  const rows = session.all<SettledRow>(
    `UPDATE entregas SET substituida_na = NULL,
       status = ${replacedOr('status', "'substituida'")},
       updated_at = ${replacedOr('updated_at', '?')}
     WHERE ordem IN (SELECT ordem FROM entregas INDEXED BY entregas_por_substituicao
       WHERE substituida_na = ? ORDER BY ordem LIMIT ?)
     RETURNING id, agente_id, carga_id, substituida_por`,
    inForceAt?.getTime() ?? 0,
    id,
    limit,
  )
  return rows.map(toSettled)
}

/** The same for the entregas of a carga that was removed. */
export function settleRemoved(
  session: SqlSession,
  { cargoId, inForceAt }: FleetChange,
  limit: number,
): SettledDelivery[] {
  keepLogShort(session)
  const rows = session.all<SettledRow>(
    `UPDATE entregas SET status = 'cancelada', updated_at = ?
     WHERE ordem IN (SELECT ordem FROM entregas INDEXED BY entregas_vivas
       WHERE carga_id = ? AND ${LIVE} ORDER BY ordem LIMIT ?)
     RETURNING id, agente_id, carga_id, substituida_por`,
    inForceAt?.getTime() ?? 0,
    cargoId,
    limit,
  )
  return rows.map(toSettled)
}

/** Takes back what was prepared, at most `limit` rows of each kind; how many that were. */
export function discardPrepared(session: SqlSession, id: number, limit: number): number {
  keepLogShort(session)
  const unlinked = session.run(
    `UPDATE entregas SET substituida_na = NULL, substituida_por = NULL
     WHERE ordem IN (SELECT ordem FROM entregas INDEXED BY entregas_por_substituicao
       WHERE substituida_na = ? ORDER BY ordem LIMIT ?)`,
    id,
    limit,
  )
  // Nothing points at them any more.
  if (unlinked > 0) return unlinked
  return session.run(
    `DELETE FROM entregas WHERE ordem IN
       (SELECT ordem FROM entregas INDEXED BY entregas_por_mudanca WHERE mudanca = ? ORDER BY ordem LIMIT ?)`,
    id,
    limit,
  )
}

function toSettled(row: SettledRow): SettledDelivery {
  return {
    id: row.id,
    agentId: row.agente_id,
    cargoId: row.carga_id,
    replacedBy: row.substituida_por,
  }
}
