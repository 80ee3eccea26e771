// Who owns which field of which object, a row each; and the objects of declared fleets by many names at once.

import type { CargoId, JoinRuleId } from '../../../protocol/identifiers.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { OwnedField } from '../../domain/plan-fleet.ts'
import type { NamesAndIds, OwnedPlace } from '../declared-store.ts'
import type { Page } from '../store.ts'
import { type CargoRow, toCargo } from './cargo-rows.ts'
import { type JoinRuleRow, toJoinRule } from './join-rules.ts'
import type { SqlSession } from './sql-session.ts'

/**
 * A step of migrations.ts: it only adds. The program before it leaves these rows alone, and the triggers hold there too: whatever
 * ends an object, nobody owns it any more, and one that takes its name later is another one.
 */
export const DECLARED = `
CREATE TABLE declarados (
  ordem INTEGER PRIMARY KEY,
  tipo TEXT NOT NULL,
  objeto TEXT NOT NULL,
  -- Empty for the object itself.
  campo TEXT NOT NULL,
  nome TEXT NOT NULL,
  gestor TEXT NOT NULL,
  UNIQUE (tipo, objeto, campo)
) STRICT;
CREATE INDEX declarados_por_gestor ON declarados (gestor, tipo, objeto);
CREATE TRIGGER declarados_sem_politica AFTER DELETE ON politicas
BEGIN DELETE FROM declarados WHERE tipo = 'politica' AND objeto = OLD.role; END;
CREATE TRIGGER declarados_sem_webhook AFTER DELETE ON webhooks
BEGIN DELETE FROM declarados WHERE tipo = 'webhook' AND objeto = OLD.id; END;
CREATE TRIGGER declarados_sem_carga AFTER UPDATE OF removed_at ON cargas WHEN NEW.removed_at IS NOT NULL
BEGIN DELETE FROM declarados WHERE tipo = 'carga' AND objeto = NEW.id; END;
CREATE TRIGGER declarados_sem_agente AFTER UPDATE OF removed_at ON agentes WHEN NEW.removed_at IS NOT NULL
BEGIN DELETE FROM declarados WHERE tipo = 'agente' AND objeto = NEW.id; END;
CREATE TRIGGER declarados_sem_join_rule AFTER UPDATE OF ended_at ON join_rules WHEN NEW.ended_at IS NOT NULL
BEGIN DELETE FROM declarados WHERE tipo = 'join_rule' AND objeto = NEW.id; END;
CREATE TRIGGER declarados_sem_admin_token AFTER UPDATE OF revoked_at, ended_at ON admin_tokens
  WHEN coalesce(NEW.revoked_at, NEW.ended_at) IS NOT NULL
BEGIN DELETE FROM declarados WHERE tipo = 'admin_token' AND objeto = NEW.token_hash; END;
CREATE TRIGGER declarados_sem_politica_seletor AFTER DELETE ON politicas_por_seletor
BEGIN DELETE FROM declarados WHERE tipo = 'politica_seletor' AND objeto = OLD.nome; END;
`

interface OwnedRow {
  readonly ordem: number
  readonly tipo: OwnedField['kind']
  readonly objeto: string
  readonly campo: string
  readonly nome: string
  readonly gestor: string
}

export function selectOwnedWith(session: SqlSession, manager: string): OwnedField[] {
  const sql = `SELECT rows.* FROM
      (SELECT DISTINCT tipo, objeto FROM declarados INDEXED BY declarados_por_gestor WHERE gestor = ?) AS wanted
      CROSS JOIN declarados AS rows ON rows.tipo = wanted.tipo AND rows.objeto = wanted.objeto
    ORDER BY rows.tipo, rows.objeto, rows.campo`
  return session.all<OwnedRow>(sql, manager).map(toOwned)
}

export function selectOwned(
  session: SqlSession,
  objects: readonly Pick<OwnedField, 'kind' | 'id'>[],
): OwnedField[] {
  const sql = `SELECT rows.* FROM json_each(?) AS wanted CROSS JOIN declarados AS rows
      ON rows.tipo = wanted.value ->> 0 AND rows.objeto = wanted.value ->> 1
    ORDER BY rows.tipo, rows.objeto, rows.campo`
  const wanted = JSON.stringify(objects.map(({ kind, id }) => [kind, id]))
  return session.all<OwnedRow>(sql, wanted).map(toOwned)
}

export function selectOwnedPage(
  session: SqlSession,
  { after, limit }: Page,
): OwnedPlace[] | undefined {
  if (after !== undefined && !/^\d{1,15}$/.test(after)) return undefined
  const sql = 'SELECT * FROM declarados WHERE ordem > ? ORDER BY ordem LIMIT ?'
  const rows = session.all<OwnedRow>(sql, Number(after ?? 0), limit)
  return rows.map((row) => ({ ...toOwned(row), place: row.ordem }))
}

export function putOwned(session: SqlSession, fields: readonly OwnedField[]): void {
  const rows = fields.map(({ kind, id, field, name, manager }) => [kind, id, field, name, manager])
  session.about('no agent', () =>
    session.run(
      `INSERT INTO declarados (tipo, objeto, campo, nome, gestor)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
       FROM json_each(?) AS wanted WHERE true
       ON CONFLICT (tipo, objeto, campo) DO UPDATE SET gestor = excluded.gestor`,
      JSON.stringify(rows),
    ),
  )
}

export function deleteOwned(
  session: SqlSession,
  fields: readonly Pick<OwnedField, 'kind' | 'id' | 'field'>[],
): void {
  const rows = fields.map(({ kind, id, field }) => [kind, id, field])
  session.about('no agent', () =>
    session.run(
      `DELETE FROM declarados WHERE (tipo, objeto, campo) IN
         (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
      JSON.stringify(rows),
    ),
  )
}

export function selectOpenJoinRules(
  session: SqlSession,
  { names, ids }: NamesAndIds<JoinRuleId>,
): JoinRule[] {
  const sql = `SELECT join_rules.* FROM json_each(?) AS wanted
      CROSS JOIN join_rules INDEXED BY join_rules_por_nome
        ON join_rules.name = wanted.value AND ended_at IS NULL
    UNION SELECT join_rules.* FROM json_each(?) AS wanted
      CROSS JOIN join_rules ON join_rules.id = wanted.value AND ended_at IS NULL`
  return session.all<JoinRuleRow>(sql, JSON.stringify(names), JSON.stringify(ids)).map(toJoinRule)
}

/** Of a name that many have, a few: pushes to many hosts have one name. */
const SAME_NAME_MAX = 6

export function selectCargoesNamed(
  session: SqlSession,
  { names, ids }: NamesAndIds<CargoId>,
): Cargo[] {
  const sql = `SELECT cargas.* FROM json_each(?) AS wanted CROSS JOIN cargas ON cargas.ordem IN
        (SELECT ordem FROM cargas INDEXED BY cargas_por_nome
          WHERE nome = wanted.value AND removed_at IS NULL ORDER BY ordem LIMIT ${SAME_NAME_MAX})
    UNION SELECT cargas.* FROM json_each(?) AS wanted
      CROSS JOIN cargas ON cargas.id = wanted.value AND removed_at IS NULL`
  return session.all<CargoRow>(sql, JSON.stringify(names), JSON.stringify(ids)).map(toCargo)
}

function toOwned({ tipo, objeto, campo, nome, gestor }: OwnedRow): OwnedField {
  return { kind: tipo, id: objeto, field: campo, name: nome, manager: gestor }
}
