// How many there are of what, kept up by triggers in the commit of each change: nobody counts a table that grows with the
// fleet. No count has a bound that it could break: a wrong figure must not keep an agent from being revoked. A step of
// migrations.ts.

/** The certificates in use are counted for each quarter of an hour in which they end. */
export const END_BUCKET_MS: number = 15 * 60_000

const stateOf = (row: string): string =>
  `iif(${row}.removed_at IS NOT NULL, 'removed', iif(${row}.revoked_at IS NOT NULL, 'revoked', 'live'))`

const add = (table: string, state: string, change: '+ 1' | '- 1'): string =>
  `INSERT INTO contagens VALUES ('${table}', ${state}, 0) ON CONFLICT DO NOTHING;
  UPDATE contagens SET total = total ${change} WHERE tabela = '${table}' AND estado = ${state};`

const bucketOf = (row: string): string => `${row}.not_after / ${END_BUCKET_MS}`

/** From the tables as they are. */
export const COUNT_ALL = `
INSERT INTO contagens SELECT 'agentes', ${stateOf('agentes')} AS estado, count(*) FROM agentes
  GROUP BY estado;
INSERT INTO contagens SELECT 'entregas', status, count(*) FROM entregas GROUP BY status;
INSERT INTO contagens SELECT 'validades', purpose, count(*) FROM validades GROUP BY purpose;
INSERT INTO validades_por_quarto SELECT purpose, ${bucketOf('validades')} AS quarto, count(*)
  FROM validades GROUP BY purpose, quarto;
`

export const FLEET_COUNTS = `
CREATE TABLE contagens (
  tabela TEXT NOT NULL,
  estado TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (tabela, estado)
) STRICT, WITHOUT ROWID;
CREATE TABLE validades_por_quarto (
  purpose TEXT NOT NULL,
  quarto INTEGER NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (purpose, quarto)
) STRICT, WITHOUT ROWID;
${COUNT_ALL}
CREATE TRIGGER contagens_agente_novo AFTER INSERT ON agentes
BEGIN ${add('agentes', stateOf('NEW'), '+ 1')} END;
CREATE TRIGGER contagens_agente AFTER UPDATE OF revoked_at, removed_at ON agentes
WHEN ${stateOf('NEW')} <> ${stateOf('OLD')}
BEGIN ${add('agentes', stateOf('OLD'), '- 1')} ${add('agentes', stateOf('NEW'), '+ 1')} END;
CREATE TRIGGER contagens_entrega_nova AFTER INSERT ON entregas
BEGIN ${add('entregas', 'NEW.status', '+ 1')} END;
CREATE TRIGGER contagens_entrega AFTER UPDATE OF status ON entregas WHEN NEW.status <> OLD.status
BEGIN ${add('entregas', 'OLD.status', '- 1')} ${add('entregas', 'NEW.status', '+ 1')} END;
CREATE TRIGGER contagens_entrega_finda AFTER DELETE ON entregas
BEGIN ${add('entregas', 'OLD.status', '- 1')} END;
CREATE TRIGGER contagens_validade_nova AFTER INSERT ON validades
BEGIN
  ${add('validades', 'NEW.purpose', '+ 1')}
  INSERT INTO validades_por_quarto VALUES (NEW.purpose, ${bucketOf('NEW')}, 0) ON CONFLICT DO NOTHING;
  UPDATE validades_por_quarto SET total = total + 1
    WHERE purpose = NEW.purpose AND quarto = ${bucketOf('NEW')};
END;
CREATE TRIGGER contagens_validade_finda AFTER DELETE ON validades
BEGIN
  ${add('validades', 'OLD.purpose', '- 1')}
  UPDATE validades_por_quarto SET total = total - 1
    WHERE purpose = OLD.purpose AND quarto = ${bucketOf('OLD')};
  DELETE FROM validades_por_quarto
    WHERE purpose = OLD.purpose AND quarto = ${bucketOf('OLD')} AND total = 0;
END;
`
