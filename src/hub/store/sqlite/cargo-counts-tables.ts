// How many hosts of each carga are in which status, kept up by triggers: a page of cargas never counts their entregas, of which one carga has a
// hundred thousand. What an act is still preparing is counted as it is written down (docs/protocol.md FLT-2). A step of migrations.ts.

const LIVE_STATUSES = `('pendente', 'em_andamento', 'instalada', 'entregue', 'falhou')`

/** The one entrega of its carga that a host has, or is to have. */
const isCounted = (row: string): string =>
  `${row}.substituida_por IS NULL AND ${row}.status IN ${LIVE_STATUSES}`

const remove = `UPDATE cargas_contagens SET total = total - 1
    WHERE carga_id = OLD.carga_id AND status = OLD.status AND ${isCounted('OLD')};`
const add = `INSERT INTO cargas_contagens SELECT NEW.carga_id, NEW.status, 1 WHERE ${isCounted('NEW')}
    ON CONFLICT DO UPDATE SET total = total + 1;`

export const CARGO_COUNTS_OF_ALL = `
INSERT INTO cargas_contagens SELECT carga_id, status, count(*) FROM entregas
  WHERE ${isCounted('entregas')} GROUP BY carga_id, status;
`

export const CARGO_COUNTS = `
CREATE TABLE cargas_contagens (
  carga_id TEXT NOT NULL,
  status TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (carga_id, status)
) STRICT, WITHOUT ROWID;
${CARGO_COUNTS_OF_ALL}
CREATE TRIGGER cargas_contagens_nova AFTER INSERT ON entregas
BEGIN ${add} END;
CREATE TRIGGER cargas_contagens_outra AFTER UPDATE OF status, substituida_por ON entregas
WHEN NEW.status <> OLD.status OR (NEW.substituida_por IS NULL) <> (OLD.substituida_por IS NULL)
BEGIN ${remove} ${add} END;
CREATE TRIGGER cargas_contagens_finda AFTER DELETE ON entregas
BEGIN ${remove} END;
`
