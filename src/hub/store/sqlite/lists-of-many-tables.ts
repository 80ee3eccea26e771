// What lists of 100,000 hosts are read and counted from, without a look at the row of each. A step of migrations.ts.

/** Without what the host reported of itself. */
const LAST_LABELS_OF = `json_group_object(chave, valor) FILTER (WHERE substr(chave, 1, 5) <> 'host.')`

export const LISTS_OF_MANY = `
-- The indexes of labels have the hosts that are there, and can be counted by themselves.
INSERT INTO agentes_labels_ao_sair SELECT agente_id, ${LAST_LABELS_OF}
  FROM agentes_labels JOIN agentes ON agentes.id = agente_id
  WHERE removed_at IS NOT NULL GROUP BY agente_id ON CONFLICT DO NOTHING;
DELETE FROM agentes_labels WHERE agente_id IN
  (SELECT agente_id FROM agentes_labels JOIN agentes ON agentes.id = agente_id
   WHERE removed_at IS NOT NULL);
-- By any removal, whatever else is done with it.
CREATE TRIGGER agentes_labels_de_removido AFTER UPDATE OF removed_at ON agentes
WHEN NEW.removed_at IS NOT NULL AND OLD.removed_at IS NULL
BEGIN
  INSERT INTO agentes_labels_ao_sair SELECT NEW.id, ${LAST_LABELS_OF}
    FROM agentes_labels WHERE agente_id = NEW.id HAVING count(*) > 0 ON CONFLICT DO NOTHING;
  DELETE FROM agentes_labels WHERE agente_id = NEW.id;
END;
-- With the role, hosts of one are found in either order among all.
DROP INDEX agentes_por_primeiro_fim;
CREATE INDEX agentes_por_primeiro_fim ON agentes (primeiro_fim, id, role) WHERE primeiro_fim IS NOT NULL;
DROP INDEX agentes_por_matricula;
CREATE INDEX agentes_por_matricula ON agentes (created_at, id, role) WHERE removed_at IS NULL;
-- Of all identities that there ever were, the few that nobody has used yet.
CREATE INDEX certificados_sem_uso ON certificados (seq)
  WHERE purpose = 'identity' AND first_used_at IS NULL AND revoked_at IS NULL;
`
