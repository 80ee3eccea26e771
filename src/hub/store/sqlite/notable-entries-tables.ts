// The entries that are no routine, by their numbers: in a large log one in a thousand. Triggers keep them up in the commit of each entry. A step
// of migrations.ts.

/** As protocol/routine-events.ts had them when this step was made; a test holds the two against each other. */
export const ROUTINE_OF_INDEX = [
  'certificate_issued',
  'cert_renewed',
  'entrega_instalada',
  'entrega_entregue',
  'manifest_pulled',
  'alvo_aplicado',
] as const

const ROUTINE = `(${ROUTINE_OF_INDEX.map((type) => `'${type}'`).join(', ')})`

/**
 * A number that is there already, in a log that somebody cut by hand, keeps no later entry out: what was cut is for the hash chain to tell.
 *
 * Filled type by type, from the index of types alone: to build an index over `eventos` would read the whole log, twenty seconds for ten
 * million entries, in which a hub of several does nothing else.
 */
export const NOTABLE_ENTRIES: string = `
CREATE TABLE eventos_notaveis (seq INTEGER PRIMARY KEY) STRICT;
WITH RECURSIVE tipos (tipo) AS (
  SELECT min(tipo_evento) FROM eventos
  UNION ALL
  SELECT (SELECT min(tipo_evento) FROM eventos WHERE tipo_evento > tipo) FROM tipos
    WHERE tipo IS NOT NULL)
INSERT INTO eventos_notaveis
  SELECT eventos.seq FROM tipos CROSS JOIN eventos INDEXED BY eventos_por_tipo
    ON eventos.tipo_evento = tipos.tipo
  WHERE tipos.tipo NOT IN ${ROUTINE};
CREATE TRIGGER eventos_notaveis_insert AFTER INSERT ON eventos WHEN NEW.tipo_evento NOT IN ${ROUTINE}
BEGIN INSERT OR IGNORE INTO eventos_notaveis VALUES (NEW.seq); END;
CREATE TRIGGER eventos_notaveis_delete AFTER DELETE ON eventos WHEN OLD.tipo_evento NOT IN ${ROUTINE}
BEGIN DELETE FROM eventos_notaveis WHERE seq = OLD.seq; END;
`
