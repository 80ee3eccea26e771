// The hub's own acts by what they are about: an index that triggers keep up in the commit of each act. Steps of migrations.ts.

import { ACTOR_PREFIX } from '../../domain/entry-subject.ts'

/** So many are indexed while the tables are brought forward; a hub indexes the rest while it runs. */
const ACTS_AT_ONCE = 10_000

/** Types of acts that are found by their carga: those of the first step, and all of them. */
const FIRST_CARGO_ACTS = `'carga_created', 'carga_updated', 'carga_removed'`
const CARGO_ACTS = `${FIRST_CARGO_ACTS}, 'carga_selected'`

/**
 * docs/protocol.md CHN-10, of a row of `eventos`: who did it; the agent, which an entrega names too; the hostname of a host that
 * may have no agent, or no longer; the carga. The hub writes no act that is not JSON, but a tampered one must not keep a vault shut.
 */
const subjectsOf = (
  row: string,
  cargoActs: string,
): string => `json_each(iif(json_valid(${row}.payload), json_array(
    '${ACTOR_PREFIX}' || (${row}.payload ->> 'actor'),
    coalesce(${row}.payload ->> 'agente_id',
      (SELECT agente_id FROM entregas WHERE id = ${row}.entrega_id)),
    iif(${row}.payload ->> 'agente_id' IS NULL OR ${row}.tipo_evento IN ('agent_enrolled', 'agent_removed'),
      ${row}.payload ->> 'hostname', NULL),
    iif(${row}.tipo_evento IN (${cargoActs}),
      ${row}.payload ->> 'carga_id', NULL)), '[]')) AS assuntos`

const INTO = 'INSERT INTO eventos_por_assunto'
const KNOWN_ONCE = `WHERE assuntos.type = 'text' ON CONFLICT DO NOTHING`

const indexSlice = (slice: string, cargoActs: string): string => `${INTO}
  SELECT assuntos.value, atos.seq FROM (${slice}) AS fatia
    CROSS JOIN eventos AS atos ON atos.seq = fatia.seq CROSS JOIN ${subjectsOf('atos', cargoActs)}
  ${KNOWN_ONCE}`

/** Indexes the acts whose numbers a SELECT answers. */
export const indexActsOf = (slice: string): string => indexSlice(slice, CARGO_ACTS)

/** From the log as it is. */
export const INDEX_ALL_ACTS: string = indexActsOf(
  'SELECT seq FROM eventos INDEXED BY eventos_por_agente WHERE agente_id IS NULL',
)

const onInsert = (
  cargoActs: string,
): string => `CREATE TRIGGER eventos_assuntos AFTER INSERT ON eventos WHEN NEW.agente_id IS NULL
BEGIN
  ${INTO} SELECT assuntos.value, NEW.seq FROM ${subjectsOf('NEW', cargoActs)} ${KNOWN_ONCE};
END;`

const onDelete = (
  cargoActs: string,
): string => `CREATE TRIGGER eventos_assuntos_delete AFTER DELETE ON eventos WHEN OLD.agente_id IS NULL
BEGIN
  DELETE FROM eventos_por_assunto
    WHERE assunto IN (SELECT assuntos.value FROM ${subjectsOf('OLD', cargoActs)}) AND seq = OLD.seq;
END;`

export const ENTRY_SUBJECTS: string = `
CREATE TABLE eventos_por_assunto (
  assunto TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (assunto, seq)
) STRICT, WITHOUT ROWID;
-- The acts from this number on are in it.
CREATE TABLE assuntos_indexados (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  desde INTEGER NOT NULL
) STRICT;
INSERT INTO assuntos_indexados SELECT 1, coalesce(
  (SELECT seq + 1 FROM eventos INDEXED BY eventos_por_agente WHERE agente_id IS NULL
    ORDER BY seq DESC LIMIT 1 OFFSET ${ACTS_AT_ONCE}), 1);
${indexSlice(
  `SELECT seq FROM eventos INDEXED BY eventos_por_agente
    WHERE agente_id IS NULL AND seq >= (SELECT desde FROM assuntos_indexados WHERE id = 1)`,
  FIRST_CARGO_ACTS,
)};
${onInsert(FIRST_CARGO_ACTS)}
`

/** Part of the step of the archive. */
export const ENTRY_SUBJECTS_OF_REMOVED: string = onDelete(FIRST_CARGO_ACTS)

/** Of a log that has more selections than are indexed at once, the hub looks at the older acts again while it runs. */
export const SELECTIONS_BY_CARGO: string = `
DROP TRIGGER eventos_assuntos;
DROP TRIGGER eventos_assuntos_delete;
UPDATE assuntos_indexados SET desde = max(desde, coalesce(
  (SELECT seq + 1 FROM eventos INDEXED BY eventos_por_tipo WHERE tipo_evento = 'carga_selected'
    ORDER BY seq DESC LIMIT 1 OFFSET ${ACTS_AT_ONCE}), 1));
${indexActsOf(`SELECT seq FROM eventos INDEXED BY eventos_por_tipo
    WHERE tipo_evento = 'carga_selected' AND agente_id IS NULL
      AND seq >= (SELECT desde FROM assuntos_indexados WHERE id = 1)`)};
${onInsert(CARGO_ACTS)}
${onDelete(CARGO_ACTS)}
`
