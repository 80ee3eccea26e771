// Entregas, a set at a time. Who reads asks the view `entregas_vistas`: it leaves out what a change under way prepares, and
// shows at once what one in force has yet to write down. docs/protocol.md FLT.

import type { AgentId, CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import { ABSENT_STATUSES, type Delivery, isLive, LIVE_STATUSES } from '../../domain/delivery.ts'
import type {
  DeliveryFilter,
  DeliveryStep,
  DeliveryWithCargo,
  FileRival,
  Page,
  Replacement,
  Step,
} from '../store.ts'
import {
  type DeliveryRow,
  type DeliveryWithCargoRow,
  fromDelivery,
  toDelivery,
  toDeliveryWithCargo,
} from './cargo-rows.ts'
import type { Parameter, SqlSession } from './sql-session.ts'

const listOf = (statuses: readonly DeliveryStatus[]): string =>
  `(${statuses.map((status) => `'${status}'`).join(', ')})`
const ANY_LIVE = listOf(LIVE_STATUSES)
/** As the partial index says it, so that it is used. */
export const LIVE: string = `status IN ${ANY_LIVE}`
/** In a SET: the status of what another takes the place of. */
export const replacedOr = (column: string, value: string): string =>
  `iif(status IN ${listOf(ABSENT_STATUSES)}, ${value}, ${column})`
const PREPARED = '(SELECT id FROM mudancas WHERE em_vigor_at IS NULL)'

export const DELIVERIES_WITH_CARGO = `
      SELECT entregas.*, agentes.hostname, cargas.tipo AS carga_tipo, cargas.nome AS carga_nome,
        cargas.versao AS carga_versao, cargas.sans AS carga_sans, cargas.seletor AS carga_seletor,
        cargas.created_at AS carga_created_at, cargas.removed_at AS carga_removed_at
      FROM entregas_vistas AS entregas CROSS JOIN cargas ON cargas.id = entregas.carga_id
        CROSS JOIN agentes ON agentes.id = entregas.agente_id`

export function selectDelivery(session: SqlSession, id: DeliveryId): Delivery | undefined {
  const row = session.get<DeliveryRow>('SELECT * FROM entregas_vistas WHERE id = ?', id)
  return row && toDelivery(row)
}

export function selectDeliveryWithCargo(
  session: SqlSession,
  id: DeliveryId,
): DeliveryWithCargo | undefined {
  const row = session.get<DeliveryWithCargoRow>(
    `${DELIVERIES_WITH_CARGO} WHERE entregas.id = ?`,
    id,
  )
  return row && toDeliveryWithCargo(row)
}

export function selectDeliveries(
  session: SqlSession,
  { agentId, cargoId, statuses }: DeliveryFilter,
): DeliveryWithCargo[] {
  const conditions = ['entregas.agente_id = ?']
  const parameters: Parameter[] = [agentId]
  const add = (condition: string, parameter: Parameter): void => {
    conditions.push(condition)
    parameters.push(parameter)
  }
  if (cargoId !== undefined) add('entregas.carga_id = ?', cargoId)
  if (statuses !== undefined) {
    conditions.push(`entregas.status IN ${listOf(statuses)}`)
    // What is seen as live is written down as live: for that an index is asked.
    if (statuses.every((status) => isLive({ status }))) {
      conditions.push(`entregas.status_gravado IN ${listOf(statuses)}`)
    }
  }
  const where = `WHERE ${conditions.join(' AND ')} ORDER BY entregas.ordem`
  const rows = session.all<DeliveryWithCargoRow>(`${DELIVERIES_WITH_CARGO} ${where}`, ...parameters)
  return rows.map(toDeliveryWithCargo)
}

export function selectLiveDeliveries(
  session: SqlSession,
  agentIds: readonly AgentId[],
): DeliveryWithCargo[] {
  const sql = `${withCargoes('entregas.agente_id')} WHERE entregas.status_gravado IN ${ANY_LIVE}
    AND entregas.status IN ${ANY_LIVE}`
  return session.all<DeliveryWithCargoRow>(sql, JSON.stringify(agentIds)).map(toDeliveryWithCargo)
}

/** Looks at `limit` live ones at the most, so that a step is short whatever it finds. */
export function selectCargoDeliveries(
  session: SqlSession,
  cargoId: CargoId,
  { after = 0, limit }: Step,
): DeliveryStep {
  const sql = `SELECT ordem, substituida_por IS NULL
      AND (mudanca IS NULL OR mudanca NOT IN ${PREPARED}) AS isStanding
    FROM entregas INDEXED BY entregas_vivas
    WHERE carga_id = ? AND ${LIVE} AND ordem > ? ORDER BY ordem LIMIT ?`
  const rows = session.all<{ ordem: number; isStanding: 0 | 1 }>(sql, cargoId, after, limit)
  const places = rows.filter(({ isStanding }) => isStanding === 1).map(({ ordem }) => ordem)
  const next = rows.length < limit ? null : (rows.at(-1)?.ordem ?? null)
  return { deliveries: selectByPlace(session, places), next }
}

export function selectDeliveriesOfChange(
  session: SqlSession,
  change: number,
  { after = 0, limit }: Step,
): DeliveryStep {
  const sql = `SELECT ordem FROM entregas INDEXED BY entregas_por_mudanca
    WHERE mudanca = ? AND ordem > ? ORDER BY ordem LIMIT ?`
  const places = session.all<{ ordem: number }>(sql, change, after, limit)
  const next = places.length < limit ? null : (places.at(-1)?.ordem ?? null)
  return {
    deliveries: selectByPlace(
      session,
      places.map(({ ordem }) => ordem),
    ),
    next,
  }
}

export function selectFailed(session: SqlSession, { after, limit }: Page): DeliveryWithCargo[] {
  const start = session.get<{ updated_at: number; ordem: number }>(
    'SELECT updated_at, ordem FROM entregas WHERE id = ?',
    after ?? '',
  ) ?? { updated_at: Number.MIN_SAFE_INTEGER, ordem: 0 }
  const failed = (
    rest: string,
  ): string => `SELECT ordem FROM entregas INDEXED BY entregas_por_espera
    WHERE status = 'falhou' AND substituida_por IS NULL AND ${rest} LIMIT ?`
  const select = (rest: string, ...parameters: readonly number[]): number[] =>
    session.all<{ ordem: number }>(failed(rest), ...parameters).map(({ ordem }) => ordem)
  // Many fail in the same instant: in one statement all of those before would be walked through again.
  const { updated_at: at, ordem } = start
  const places = select('updated_at = ? AND ordem > ? ORDER BY ordem', at, ordem, limit)
  const rest = limit - places.length
  places.push(...select('updated_at > ? ORDER BY updated_at, ordem', at, rest))
  return selectByPlace(session, places)
}

/** In this order, without those that no reader sees yet. */
export function selectByPlace(session: SqlSession, places: readonly number[]): DeliveryWithCargo[] {
  const sql = withCargoes('entregas.ordem')
  return session.all<DeliveryWithCargoRow>(sql, JSON.stringify(places)).map(toDeliveryWithCargo)
}

/** The rows with one of the values of a JSON array, in its order. */
function withCargoes(column: string): string {
  return DELIVERIES_WITH_CARGO.replace(
    'FROM entregas_vistas AS entregas',
    `FROM json_each(?) AS wanted CROSS JOIN entregas_vistas AS entregas ON ${column} = wanted.value`,
  )
}

/** Also what is prepared only: two changes at a time must not both have a file. */
export function selectRivals(
  session: SqlSession,
  agentIds: readonly AgentId[],
  names: readonly string[],
): FileRival[] {
  const sql = `SELECT entregas.agente_id AS agentId, cargas.tipo AS kind, cargas.nome AS name
    FROM json_each(?) AS wanted
      CROSS JOIN entregas ON entregas.agente_id = wanted.value AND entregas.${LIVE}
      CROSS JOIN cargas ON cargas.id = entregas.carga_id
    WHERE lower(cargas.nome) IN (SELECT value FROM json_each(?))
      AND (substituida_por IS NULL OR substituida_na IS NOT NULL)
      AND carga_id NOT IN (SELECT carga_id FROM mudancas WHERE acao = 'remove')`
  return session.all<FileRival>(sql, JSON.stringify(agentIds), JSON.stringify(names))
}

export function selectPredecessors(session: SqlSession, id: DeliveryId): Delivery[] {
  const sql = `WITH RECURSIVE anteriores (id) AS (
      SELECT id FROM entregas WHERE substituida_por = ?
      UNION SELECT entregas.id FROM entregas
        JOIN anteriores ON entregas.substituida_por = anteriores.id)
    SELECT entregas.* FROM anteriores
      CROSS JOIN entregas_vistas AS entregas ON entregas.id = anteriores.id
    ORDER BY entregas.ordem`
  return session.all<DeliveryRow>(sql, id).map(toDelivery)
}

export function insertDeliveries(
  session: SqlSession,
  deliveries: readonly Delivery[],
  change: number | null,
): void {
  const sql = `INSERT INTO entregas (id, carga_id, agente_id, status, updated_at, erro, versao, sans,
       substituida_por, mudanca)
     SELECT value ->> 'id', value ->> 'carga_id', value ->> 'agente_id', value ->> 'status',
       value ->> 'updated_at', value ->> 'erro', value ->> 'versao', value ->> 'sans',
       value ->> 'substituida_por', ?
     FROM json_each(?)`
  const rows = JSON.stringify(deliveries.map(fromDelivery))
  session.about(agentsOf(deliveries), () => session.run(sql, change, rows))
}

function agentsOf(deliveries: readonly Delivery[]): AgentId[] {
  return deliveries.map(({ agentId }) => agentId)
}

/**
 * What was not on its host is over at once, unless the change is yet to come into force. A successor that a change has
 * prepared for the old one is to replace the new one, if that comes between.
 */
export function replaceDeliveries(
  session: SqlSession,
  replacements: readonly Replacement[],
  change: number | null,
  at: Date,
): void {
  const successors = replacements.map(({ successor }) => successor)
  insertDeliveries(session, successors, change)
  session.about(agentsOf(successors), () => putInPlace(session, replacements, change, at))
}

function putInPlace(
  session: SqlSession,
  replacements: readonly Replacement[],
  change: number | null,
  at: Date,
): void {
  const pairs = JSON.stringify(replacements.map(({ old, successor }) => [old, successor.id]))
  session.run(
    `UPDATE entregas SET substituida_por = velha.substituida_por, substituida_na = velha.substituida_na
     FROM json_each(?) AS par CROSS JOIN entregas AS velha ON velha.id = par.value ->> 0
     WHERE velha.substituida_na IN ${PREPARED} AND entregas.id = par.value ->> 1`,
    pairs,
  )
  session.run(
    `UPDATE entregas SET substituida_por = par.value ->> 1, substituida_na = @change,
       status = iif(@change IS NULL, ${replacedOr('status', "'substituida'")}, status),
       updated_at = iif(@change IS NULL, ${replacedOr('updated_at', '@at')}, updated_at)
     FROM json_each(@pairs) AS par WHERE entregas.id = par.value ->> 0`,
    { change, pairs, at: at.getTime() },
  )
  passOnRollout(session, pairs, change === null)
}

/**
 * The same version again, for a retry or a host that enrolled again, is still of the wave that gave it. Of two that are live for a while only
 * the one that stands counts.
 */
function passOnRollout(session: SqlSession, pairs: string, isInForce: boolean): void {
  session.run(
    `UPDATE entregas SET rollout = velha.rollout, onda = velha.onda
     FROM json_each(?) AS par CROSS JOIN entregas AS velha ON velha.id = par.value ->> 0
     WHERE velha.rollout IS NOT NULL AND entregas.id = par.value ->> 1
       AND entregas.versao = velha.versao`,
    pairs,
  )
  if (!isInForce) return
  session.run(
    `UPDATE entregas SET rollout = NULL, onda = NULL FROM json_each(?) AS par
     WHERE entregas.id = par.value ->> 0 AND entregas.rollout IS NOT NULL`,
    pairs,
  )
}

/** With all that they were to replace, and what a change has prepared to replace them. */
export function cancelDeliveries(session: SqlSession, ids: readonly DeliveryId[], at: Date): void {
  session.run(
    `WITH RECURSIVE cadeia (id) AS (
       SELECT value FROM json_each(?)
       UNION SELECT entregas.id FROM cadeia
         CROSS JOIN entregas ON entregas.substituida_por = cadeia.id
       UNION SELECT entregas.substituida_por FROM cadeia
         CROSS JOIN entregas ON entregas.id = cadeia.id
         WHERE entregas.substituida_na IN ${PREPARED})
     UPDATE entregas SET status = 'cancelada', updated_at = ?
     WHERE id IN (SELECT id FROM cadeia) AND +${LIVE}`,
    JSON.stringify(ids),
    at.getTime(),
  )
}
