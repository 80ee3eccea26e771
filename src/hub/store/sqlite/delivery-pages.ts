// Entregas as an operator lists them: in an order that an index has, a page at a time, after an entrega that is named by its id.

import type { CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import type { DeliveryPage, LateRule, Page } from '../store.ts'
import { LIVE, selectByPlace } from './deliveries.ts'
import { IS_LATE, parametersOf } from './late-hosts.ts'
import type { Parameter, SqlSession } from './sql-session.ts'

interface Place {
  readonly id: DeliveryId
  readonly ordem: number
  readonly agente_id: string
  readonly updated_at: number
}

/** The live ones of a carga, oldest first. */
export function selectCargoPage(
  session: SqlSession,
  cargoId: CargoId,
  { after, limit }: Page,
): DeliveryPage {
  const sql = `SELECT id, ordem FROM entregas INDEXED BY entregas_vivas
    WHERE carga_id = ? AND ${LIVE} AND ordem > ? ORDER BY ordem LIMIT ?`
  const start = findPlace(session, after)?.ordem ?? 0
  return toPage(session, select(session, sql, cargoId, start, limit), limit)
}

/** All that there ever were of a carga, by agent; in two statements, so that neither walks through what came before. */
export function selectCargoHistory(
  session: SqlSession,
  cargoId: CargoId,
  { after, limit }: Page,
): DeliveryPage {
  const of = 'SELECT id, ordem FROM entregas INDEXED BY entregas_por_carga WHERE carga_id = ?'
  const start = findPlace(session, after)
  const places: Place[] = []
  if (start !== undefined) {
    const same = `${of} AND agente_id = ? AND ordem > ? ORDER BY ordem LIMIT ?`
    places.push(...select(session, same, cargoId, start.agente_id, start.ordem, limit))
  }
  const others = `${of} AND agente_id > ? ORDER BY agente_id, ordem LIMIT ?`
  const rest = limit - places.length
  places.push(...select(session, others, cargoId, start?.agente_id ?? '', rest))
  return toPage(session, places, limit)
}

/** Longest ago first. Many change in the same instant: in one statement all of those before would be walked through again. */
export function selectStatusPage(
  session: SqlSession,
  status: DeliveryStatus,
  { after, limit }: Page,
): DeliveryPage {
  const of = 'SELECT id, ordem FROM entregas INDEXED BY entregas_por_espera WHERE status = ?'
  const start = findPlace(session, after)
  const { updated_at: at, ordem } = start ?? { updated_at: Number.MIN_SAFE_INTEGER, ordem: 0 }
  const same = `${of} AND updated_at = ? AND ordem > ? ORDER BY ordem LIMIT ?`
  const places = select(session, same, status, at, ordem, limit)
  const later = `${of} AND updated_at > ? ORDER BY updated_at, ordem LIMIT ?`
  places.push(...select(session, later, status, at, limit - places.length))
  return toPage(session, places, limit)
}

/** Those among them with a certificate in use that is late or expired. */
export function selectLateDeliveries(
  session: SqlSession,
  ids: readonly DeliveryId[],
  rule: LateRule,
): DeliveryId[] {
  const sql = `SELECT wanted.value AS id FROM json_each(@ids) AS wanted
    WHERE EXISTS (SELECT 1 FROM validades INDEXED BY validades_por_entrega
      WHERE entrega_id = wanted.value AND entrega_id IS NOT NULL AND ${IS_LATE})`
  const named = { ...parametersOf(rule), ids: JSON.stringify(ids) }
  return session.all<{ id: DeliveryId }>(sql, named).map(({ id }) => id)
}

function findPlace(session: SqlSession, id: string | undefined): Place | undefined {
  if (id === undefined) return undefined
  const sql = 'SELECT id, ordem, agente_id, updated_at FROM entregas WHERE id = ?'
  return session.get<Place>(sql, id)
}

function select(session: SqlSession, sql: string, ...parameters: readonly Parameter[]): Place[] {
  return session.all<Place>(sql, ...parameters)
}

function toPage(session: SqlSession, places: readonly Place[], limit: number): DeliveryPage {
  const ordens = places.map(({ ordem }) => ordem)
  const next = places.length < limit ? null : (places.at(-1)?.id ?? null)
  return { deliveries: selectByPlace(session, ordens), next }
}
