// What `summarizeFleet` reads in place of tables that grow with the fleet, kept up by triggers in the commit of each change. As
// the other counts these have no bound that could keep an agent from being revoked. A step of migrations.ts.

import { END_BUCKET_MS } from './fleet-counts-tables.ts'

/** `minutos`: the life of the certificate, which says when its agent renews it. */
const groupOf = (row: string): string =>
  `${row}.not_after / ${END_BUCKET_MS}, (${row}.not_after - ${row}.not_before) / 60000`

const isGroupOf = (row: string): string => `quarto = ${row}.not_after / ${END_BUCKET_MS}
    AND minutos = (${row}.not_after - ${row}.not_before) / 60000`

/** Every list is there, and `''` where no file on the host pins roots: a key has no NULL. */
const trustOf = (row: string): string => `${row}.fingerprints, coalesce(${row}.pinned, '')`

const isTrustOf = (row: string): string =>
  `fingerprints = ${row}.fingerprints AND pinned = coalesce(${row}.pinned, '')`

const IS_LIVE = 'revoked_at IS NULL AND removed_at IS NULL'

/** Nothing of an agent that is revoked or removed. */
const addTrust = (row: string, change: '+ 1' | '- 1'): string =>
  `INSERT INTO raizes_confiadas SELECT ${trustOf(row)}, 0 FROM agentes
    WHERE id = ${row}.agente_id AND ${IS_LIVE} ON CONFLICT DO NOTHING;
  UPDATE raizes_confiadas SET total = total ${change} WHERE ${isTrustOf(row)}
    AND EXISTS (SELECT 1 FROM agentes WHERE id = ${row}.agente_id AND ${IS_LIVE});
  DELETE FROM raizes_confiadas WHERE ${isTrustOf(row)} AND total = 0;`

const countCargoes = (change: '+ 1' | '- 1'): string =>
  `INSERT INTO contagens VALUES ('cargas', 'live', 0) ON CONFLICT DO NOTHING;
  UPDATE contagens SET total = total ${change} WHERE tabela = 'cargas' AND estado = 'live';`

/** From the tables as they are. */
export const SUMMARY_COUNTS_OF_ALL = `
INSERT INTO validades_por_vida SELECT ${groupOf('validades')}, count(*) FROM validades GROUP BY 1, 2;
INSERT INTO raizes_confiadas SELECT ${trustOf('agentes_raizes')}, count(*)
  FROM agentes JOIN agentes_raizes ON agente_id = agentes.id WHERE ${IS_LIVE} GROUP BY 1, 2;
INSERT INTO contagens SELECT 'cargas', 'live', count(*) FROM cargas WHERE removed_at IS NULL
  HAVING count(*) > 0;
`

export const SUMMARY_COUNTS = `
CREATE TABLE validades_por_vida (
  quarto INTEGER NOT NULL,
  minutos INTEGER NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (quarto, minutos)
) STRICT, WITHOUT ROWID;
CREATE TABLE raizes_confiadas (
  fingerprints TEXT NOT NULL,
  pinned TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (fingerprints, pinned)
) STRICT, WITHOUT ROWID;
CREATE INDEX raizes_confiadas_por_total ON raizes_confiadas (total);
-- With all that is asked of one host's certificates: whether one of them is late, or ends by then.
DROP INDEX validades_por_agente;
CREATE INDEX validades_por_agente ON validades (agente_id, not_after, not_before);
CREATE INDEX agentes_por_primeiro_fim ON agentes (primeiro_fim, id) WHERE primeiro_fim IS NOT NULL;
${SUMMARY_COUNTS_OF_ALL}
CREATE TRIGGER contagens_vida_nova AFTER INSERT ON validades
BEGIN
  INSERT INTO validades_por_vida VALUES (${groupOf('NEW')}, 0) ON CONFLICT DO NOTHING;
  UPDATE validades_por_vida SET total = total + 1 WHERE ${isGroupOf('NEW')};
END;
CREATE TRIGGER contagens_vida_finda AFTER DELETE ON validades
BEGIN
  UPDATE validades_por_vida SET total = total - 1 WHERE ${isGroupOf('OLD')};
  DELETE FROM validades_por_vida WHERE ${isGroupOf('OLD')} AND total = 0;
END;
CREATE TRIGGER contagens_carga_nova AFTER INSERT ON cargas WHEN NEW.removed_at IS NULL
BEGIN ${countCargoes('+ 1')} END;
CREATE TRIGGER contagens_carga_removida AFTER UPDATE OF removed_at ON cargas
WHEN NEW.removed_at IS NOT NULL AND OLD.removed_at IS NULL
BEGIN ${countCargoes('- 1')} END;
CREATE TRIGGER raizes_confiadas_nova AFTER INSERT ON agentes_raizes
BEGIN ${addTrust('NEW', '+ 1')} END;
CREATE TRIGGER raizes_confiadas_outra AFTER UPDATE OF fingerprints, pinned ON agentes_raizes
WHEN NEW.fingerprints <> OLD.fingerprints OR NEW.pinned IS NOT OLD.pinned
BEGIN ${addTrust('OLD', '- 1')} ${addTrust('NEW', '+ 1')} END;
CREATE TRIGGER raizes_confiadas_finda AFTER DELETE ON agentes_raizes
BEGIN ${addTrust('OLD', '- 1')} END;
CREATE TRIGGER raizes_confiadas_agente AFTER UPDATE OF revoked_at, removed_at ON agentes
WHEN (NEW.revoked_at IS NULL AND NEW.removed_at IS NULL)
  <> (OLD.revoked_at IS NULL AND OLD.removed_at IS NULL)
BEGIN
  INSERT INTO raizes_confiadas SELECT ${trustOf('agentes_raizes')}, 0 FROM agentes_raizes
    WHERE agente_id = NEW.id ON CONFLICT DO NOTHING;
  UPDATE raizes_confiadas
    SET total = total + iif(NEW.revoked_at IS NULL AND NEW.removed_at IS NULL, 1, -1)
    FROM agentes_raizes WHERE agente_id = NEW.id AND raizes_confiadas.fingerprints = agentes_raizes.fingerprints
      AND raizes_confiadas.pinned = coalesce(agentes_raizes.pinned, '');
  DELETE FROM raizes_confiadas WHERE total = 0;
END;
`
