// When each agent loses its first certificate in use, and how many agents do so in each quarter of an hour, kept up by triggers:
// how many hosts an outage costs is asked of a few rows, not of all certificates that end in a day. A step of migrations.ts.

import { END_BUCKET_MS } from './fleet-counts-tables.ts'

const quarterOf = (row: string): string => `${row}.primeiro_fim / ${END_BUCKET_MS}`

/** From `validades` as it is. */
export const FIRST_ENDS_OF_ALL = `
UPDATE agentes SET primeiro_fim = fins.fim
  FROM (SELECT agente_id, min(not_after) AS fim FROM validades GROUP BY agente_id) AS fins
  WHERE agentes.id = fins.agente_id;
INSERT INTO agentes_por_quarto SELECT ${quarterOf('agentes')} AS quarto, count(*) FROM agentes
  WHERE primeiro_fim IS NOT NULL GROUP BY quarto;
`

export const FIRST_ENDS = `
ALTER TABLE agentes ADD COLUMN primeiro_fim INTEGER;
CREATE TABLE agentes_por_quarto (
  quarto INTEGER PRIMARY KEY,
  total INTEGER NOT NULL
) STRICT;
${FIRST_ENDS_OF_ALL}
CREATE TRIGGER primeiro_fim_novo AFTER INSERT ON validades
BEGIN
  UPDATE agentes SET primeiro_fim = NEW.not_after
    WHERE id = NEW.agente_id AND (primeiro_fim IS NULL OR primeiro_fim > NEW.not_after);
END;
CREATE TRIGGER primeiro_fim_findo AFTER DELETE ON validades
BEGIN
  UPDATE agentes
    SET primeiro_fim = (SELECT min(not_after) FROM validades WHERE agente_id = OLD.agente_id)
    WHERE id = OLD.agente_id AND primeiro_fim = OLD.not_after;
END;
CREATE TRIGGER agentes_por_quarto_conta AFTER UPDATE OF primeiro_fim ON agentes
WHEN NEW.primeiro_fim IS NOT OLD.primeiro_fim
BEGIN
  UPDATE agentes_por_quarto SET total = total - 1 WHERE quarto = ${quarterOf('OLD')};
  DELETE FROM agentes_por_quarto WHERE quarto = ${quarterOf('OLD')} AND total = 0;
  INSERT INTO agentes_por_quarto SELECT ${quarterOf('NEW')}, 0 WHERE NEW.primeiro_fim IS NOT NULL
    ON CONFLICT DO NOTHING;
  UPDATE agentes_por_quarto SET total = total + 1 WHERE quarto = ${quarterOf('NEW')};
END;
-- For the manifest: most agents have no entrega that is open, and then this index has nothing of them.
CREATE INDEX entregas_abertas ON entregas (agente_id) WHERE status IN ('pendente', 'em_andamento');
`
