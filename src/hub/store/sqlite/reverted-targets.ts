// The targets that hosts have put back: a row from the report until the target is applied, its delivery is over, or its
// agent is revoked. So the table is as large as what is wrong now.

import type { DeliveryId } from '../../../protocol/identifiers.ts'
import {
  REVERTED_TARGETS_MAX,
  type RevertedDelivery,
  type RevertedTarget,
} from '../../domain/reverted-target.ts'
import type { SqlSession } from './sql-session.ts'

const LIVE_STATUSES = `('pendente', 'em_andamento', 'instalada', 'entregue', 'falhou')`
const count = (change: '+ 1' | '- 1'): string =>
  `INSERT INTO contagens VALUES ('entregas', 'revertida', 0) ON CONFLICT DO NOTHING;
  UPDATE contagens SET total = total ${change} WHERE tabela = 'entregas' AND estado = 'revertida';`

/** A step of migrations.ts. Entregas are counted, each once. */
export const REVERTED_TARGETS = `
CREATE TABLE alvos_revertidos (
  entrega_id TEXT NOT NULL REFERENCES entregas (id),
  alvo TEXT NOT NULL,
  agente_id TEXT NOT NULL REFERENCES agentes (id),
  reverted_at INTEGER NOT NULL,
  erro TEXT NOT NULL,
  PRIMARY KEY (entrega_id, alvo)
) STRICT, WITHOUT ROWID;
CREATE INDEX alvos_revertidos_por_agente ON alvos_revertidos (agente_id);
CREATE INDEX alvos_revertidos_por_tempo ON alvos_revertidos (reverted_at);
CREATE TRIGGER contagens_alvo_revertido AFTER INSERT ON alvos_revertidos
WHEN NOT EXISTS (SELECT 1 FROM alvos_revertidos
  WHERE entrega_id = NEW.entrega_id AND alvo <> NEW.alvo)
BEGIN ${count('+ 1')} END;
CREATE TRIGGER contagens_alvo_aplicado AFTER DELETE ON alvos_revertidos
WHEN NOT EXISTS (SELECT 1 FROM alvos_revertidos WHERE entrega_id = OLD.entrega_id)
BEGIN ${count('- 1')} END;
CREATE TRIGGER alvos_de_entrega_finda AFTER UPDATE OF status ON entregas
WHEN NEW.status NOT IN ${LIVE_STATUSES}
BEGIN DELETE FROM alvos_revertidos WHERE entrega_id = NEW.id; END;
CREATE TRIGGER alvos_de_agente_revogado AFTER UPDATE OF revoked_at ON agentes
WHEN NEW.revoked_at IS NOT NULL
BEGIN DELETE FROM alvos_revertidos WHERE agente_id = NEW.id; END;
`

interface RevertedTargetRow {
  entrega_id: RevertedTarget['deliveryId']
  alvo: string
  agente_id: RevertedTarget['agentId']
  reverted_at: number
  erro: string
}

export function selectRevertedTargets(
  session: SqlSession,
  deliveryIds: readonly DeliveryId[],
): RevertedTarget[] {
  const sql = `SELECT alvos_revertidos.* FROM json_each(?) AS wanted
    CROSS JOIN alvos_revertidos ON entrega_id = wanted.value ORDER BY entrega_id, reverted_at, alvo`
  return session.all<RevertedTargetRow>(sql, JSON.stringify(deliveryIds)).map((row) => ({
    deliveryId: row.entrega_id,
    agentId: row.agente_id,
    target: row.alvo,
    since: new Date(row.reverted_at),
    error: row.erro,
  }))
}

/** The longest ago first; a delivery with several targets comes for each of them. */
export function selectRevertedDeliveries(session: SqlSession, limit: number): RevertedDelivery[] {
  const sql = `SELECT hostname, nome, reverted_at
    FROM alvos_revertidos INDEXED BY alvos_revertidos_por_tempo
      CROSS JOIN agentes ON agentes.id = alvos_revertidos.agente_id
      CROSS JOIN entregas ON entregas.id = entrega_id
      CROSS JOIN cargas ON cargas.id = carga_id
    WHERE reverted_at > ? ORDER BY reverted_at LIMIT ?`
  return session
    .all<{
      hostname: RevertedDelivery['hostname']
      nome: RevertedDelivery['name']
      reverted_at: number
    }>(sql, Number.MIN_SAFE_INTEGER, limit)
    .map((row) => ({ hostname: row.hostname, name: row.nome, since: new Date(row.reverted_at) }))
}

/** One that is known already keeps its time. */
export function putRevertedTarget(session: SqlSession, reverted: RevertedTarget): void {
  const { deliveryId, target, agentId, since, error } = reverted
  session.runQuietly(
    `INSERT INTO alvos_revertidos (entrega_id, alvo, agente_id, reverted_at, erro)
     SELECT @deliveryId, @target, @agentId, @sinceMs, @error
     WHERE (SELECT count(*) FROM alvos_revertidos
       WHERE entrega_id = @deliveryId AND alvo <> @target) < ${REVERTED_TARGETS_MAX}
     ON CONFLICT DO UPDATE SET erro = excluded.erro`,
    { deliveryId, target, agentId, sinceMs: since.getTime(), error },
  )
}

/** Of a named target also what is known of a nameless one: its agent has learnt to say names since. */
export function deleteRevertedTargets(
  session: SqlSession,
  deliveryId: DeliveryId,
  target: string | undefined,
): void {
  session.runQuietly(
    `DELETE FROM alvos_revertidos
     WHERE entrega_id = @deliveryId AND (@target IS NULL OR alvo IN (@target, ''))`,
    { deliveryId, target: target ?? null },
  )
}
