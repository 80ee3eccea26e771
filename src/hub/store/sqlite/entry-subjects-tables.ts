// The hub's own acts by what they are about: an index that triggers keep up in the commit of each act. A step of migrations.ts.

import { ACTOR_PREFIX } from '../../domain/entry-subject.ts'

/** So many are indexed while the tables are brought forward; a hub indexes the rest while it runs. */
const ACTS_AT_ONCE = 10_000

/**
 * docs/protocol.md CHN-10, of a row of `eventos`: who did it; the agent, which an entrega names too; the hostname of a host that
 * may have no agent, or no longer; the carga. The hub writes no act that is not JSON, but a tampered one must not keep a vault shut.
 */
export const subjectsOf = (
  row: string,
): string => `json_each(iif(json_valid(${row}.payload), json_array(
    '${ACTOR_PREFIX}' || (${row}.payload ->> 'actor'),
    coalesce(${row}.payload ->> 'agente_id',
      (SELECT agente_id FROM entregas WHERE id = ${row}.entrega_id)),
    iif(${row}.payload ->> 'agente_id' IS NULL OR ${row}.tipo_evento IN ('agent_enrolled', 'agent_removed'),
      ${row}.payload ->> 'hostname', NULL),
    iif(${row}.tipo_evento IN ('carga_created', 'carga_updated', 'carga_removed'),
      ${row}.payload ->> 'carga_id', NULL)), '[]')) AS assuntos`

const INTO = 'INSERT INTO eventos_por_assunto'
const KNOWN_ONCE = `WHERE assuntos.type = 'text' ON CONFLICT DO NOTHING`

/** Indexes the acts whose numbers a SELECT answers. */
export const indexActsOf = (slice: string): string => `${INTO}
  SELECT assuntos.value, atos.seq FROM (${slice}) AS fatia
    CROSS JOIN eventos AS atos ON atos.seq = fatia.seq CROSS JOIN ${subjectsOf('atos')}
  ${KNOWN_ONCE}`

/** From the log as it is. */
export const INDEX_ALL_ACTS: string = indexActsOf(
  'SELECT seq FROM eventos INDEXED BY eventos_por_agente WHERE agente_id IS NULL',
)

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
${indexActsOf(`SELECT seq FROM eventos INDEXED BY eventos_por_agente
    WHERE agente_id IS NULL AND seq >= (SELECT desde FROM assuntos_indexados WHERE id = 1)`)};
CREATE TRIGGER eventos_assuntos AFTER INSERT ON eventos WHEN NEW.agente_id IS NULL
BEGIN
  ${INTO} SELECT assuntos.value, NEW.seq FROM ${subjectsOf('NEW')} ${KNOWN_ONCE};
END;
`
