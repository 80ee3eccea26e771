// What lists of 100,000 hosts are read and counted from, without a look at the row of each. A step of migrations.ts.

export const LISTS_OF_MANY = `
-- The indexes of labels have the hosts that are there, and can be counted by themselves.
DELETE FROM agentes_labels WHERE agente_id IN
  (SELECT agente_id FROM agentes_labels JOIN agentes ON agentes.id = agente_id
   WHERE removed_at IS NOT NULL);
CREATE TRIGGER agentes_labels_de_removido AFTER UPDATE OF removed_at ON agentes
WHEN NEW.removed_at IS NOT NULL AND OLD.removed_at IS NULL
BEGIN DELETE FROM agentes_labels WHERE agente_id = NEW.id; END;
-- With the role, hosts of one are found in either order among all.
DROP INDEX agentes_por_primeiro_fim;
CREATE INDEX agentes_por_primeiro_fim ON agentes (primeiro_fim, id, role) WHERE primeiro_fim IS NOT NULL;
DROP INDEX agentes_por_matricula;
CREATE INDEX agentes_por_matricula ON agentes (created_at, id, role) WHERE removed_at IS NULL;
`
