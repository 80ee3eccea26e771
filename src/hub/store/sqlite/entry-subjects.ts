// Entries by what they are about, and the slices in which a running hub indexes the acts of earlier versions.

import { ACTOR_PREFIX } from '../../domain/entry-subject.ts'
import type { EntrySource, SeqRange } from '../store.ts'
import { indexActsOf } from './entry-subjects-tables.ts'
import type { Parameter, SqlSession } from './sql-session.ts'

const SOURCES = {
  sender: 'eventos INDEXED BY eventos_por_agente WHERE agente_id = ?',
  type: 'eventos INDEXED BY eventos_por_tipo WHERE tipo_evento = ?',
  subject: 'eventos_por_assunto WHERE assunto = ?',
  notable: 'eventos_notaveis WHERE TRUE',
} as const satisfies Readonly<Record<EntrySource['by'], string>>

/** Read from an index alone. */
export function selectEntrySeqs(
  session: SqlSession,
  source: EntrySource,
  { afterSeq, beforeSeq, isNewestFirst, limit }: SeqRange,
): number[] {
  const conditions: string[] = [SOURCES[source.by], 'seq > ?']
  const parameters: Parameter[] = 'value' in source ? [source.value, afterSeq] : [afterSeq]
  if (beforeSeq !== undefined) {
    conditions.push('seq < ?')
    parameters.push(beforeSeq)
  }
  const order = isNewestFirst ? 'DESC' : 'ASC'
  return session.column<number>(
    `SELECT seq FROM ${conditions.join(' AND ')} ORDER BY seq ${order} LIMIT ?`,
    ...parameters,
    limit,
  )
}

/** From one name to the next, each by one look-up: of one name there may be millions of acts. */
const ACTORS = `WITH RECURSIVE atores(assunto) AS (
  SELECT min(assunto) FROM eventos_por_assunto WHERE assunto > ? AND assunto < ?
  UNION ALL
  SELECT (SELECT min(outro.assunto) FROM eventos_por_assunto AS outro
    WHERE outro.assunto > atores.assunto AND outro.assunto < ?)
  FROM atores WHERE atores.assunto IS NOT NULL
) SELECT substr(assunto, ${ACTOR_PREFIX.length + 1}) FROM atores WHERE assunto IS NOT NULL LIMIT ?`

export function selectActors(session: SqlSession, limit: number): string[] {
  const end = `${ACTOR_PREFIX.slice(0, -1)};`
  return session.column<string>(ACTORS, ACTOR_PREFIX, end, end, limit)
}

export function selectIndexedFrom(session: SqlSession): number {
  const row = session.get<{ desde: number }>('SELECT desde FROM assuntos_indexados WHERE id = 1')
  return row?.desde ?? 1
}

const OLDER_ACTS = `SELECT seq FROM eventos INDEXED BY eventos_por_agente
  WHERE agente_id IS NULL AND seq < ? ORDER BY seq DESC LIMIT ?`
const INDEX_SLICE = indexActsOf('SELECT value AS seq FROM json_each(?)')

/** The next `limit` older ones; whether any may be left. */
export function indexOlderActs(session: SqlSession, limit: number): boolean {
  const from = selectIndexedFrom(session)
  if (from === 1) return false
  const seqs = session.column<number>(OLDER_ACTS, from, limit)
  session.runQuietly(INDEX_SLICE, JSON.stringify(seqs))
  const oldest = seqs.length < limit ? 1 : (seqs.at(-1) ?? 1)
  session.runQuietly('UPDATE assuntos_indexados SET desde = ? WHERE id = 1', oldest)
  return oldest > 1
}
