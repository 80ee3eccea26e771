// The tables of changes of many entregas, and the view that says what readers see of them: a step of migrations.ts.

const LIVE_STATUSES = `('pendente', 'em_andamento', 'instalada', 'entregue', 'falhou')`
const PREPARED = '(SELECT id FROM mudancas WHERE em_vigor_at IS NULL)'

/**
 * Acts on many entregas. A row of `mudancas` stays until everything is written down: while it has no `em_vigor_at`, what it
 * made (`mudanca`) and replaced (`substituida_na`) is not so yet; from then on it all is, whatever `status` still says.
 */
export const FLEET_CHANGES = `
CREATE TABLE mudancas (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  acao TEXT NOT NULL CHECK (acao IN ('create', 'update', 'remove', 'retry')),
  carga_id TEXT REFERENCES cargas (id),
  actor TEXT NOT NULL,
  em_vigor_at INTEGER
) STRICT;
ALTER TABLE entregas ADD COLUMN mudanca INTEGER;
ALTER TABLE entregas ADD COLUMN substituida_na INTEGER;
CREATE INDEX entregas_por_mudanca ON entregas (mudanca) WHERE mudanca IS NOT NULL;
CREATE INDEX entregas_por_substituicao ON entregas (substituida_na)
  WHERE substituida_na IS NOT NULL;
CREATE INDEX entregas_vivas ON entregas (carga_id) WHERE status IN ${LIVE_STATUSES};
CREATE INDEX agentes_por_role ON agentes (role, id)
  WHERE removed_at IS NULL AND revoked_at IS NULL;
CREATE VIEW entregas_vistas AS
  SELECT ordem, id, carga_id, agente_id,
    CASE
      WHEN status NOT IN ${LIVE_STATUSES} THEN status
      WHEN carga_id IN (SELECT carga_id FROM mudancas WHERE acao = 'remove') THEN 'cancelada'
      WHEN substituida_na IS NULL OR substituida_na IN ${PREPARED} THEN status
      WHEN status IN ('pendente', 'em_andamento', 'falhou') THEN 'substituida'
      ELSE status
    END AS status,
    updated_at, erro, versao, sans,
    iif(substituida_na IS NULL OR substituida_na NOT IN ${PREPARED}, substituida_por, NULL)
      AS substituida_por,
    status AS status_gravado
  FROM entregas WHERE mudanca IS NULL OR mudanca NOT IN ${PREPARED};
`
