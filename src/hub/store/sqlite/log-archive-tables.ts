// Which part of the audit log lies in segments outside the vault. A step of migrations.ts.

import { SEGMENT_BLOCK_ENTRIES } from '../../domain/log-segment.ts'
import { ENTRY_SUBJECTS_OF_REMOVED } from './entry-subjects-tables.ts'

const ARCHIVED_UNTIL = 'coalesce((SELECT max(ate) FROM segmentos), 0)'

/** From its row on, the entries of a segment may be removed, and no others ever. */
export const LOG_ARCHIVE: string = `
CREATE TABLE segmentos (
  ate INTEGER PRIMARY KEY CHECK (ate % ${SEGMENT_BLOCK_ENTRIES} = 0),
  desde INTEGER NOT NULL CHECK (desde >= 1 AND desde <= ate),
  desde_timestamp TEXT NOT NULL CHECK (length(desde_timestamp) = 27),
  ate_timestamp TEXT NOT NULL CHECK (length(ate_timestamp) = 27),
  hash_anterior TEXT NOT NULL CHECK (length(hash_anterior) = 64),
  hash_atual TEXT NOT NULL CHECK (length(hash_atual) = 64),
  arquivo TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX segmentos_por_timestamp ON segmentos (ate_timestamp);
CREATE TABLE segmentos_chave (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chave BLOB NOT NULL CHECK (length(chave) = 32)
) STRICT;
CREATE TRIGGER segmentos_em_ordem BEFORE INSERT ON segmentos
WHEN NEW.desde <> 1 + ${ARCHIVED_UNTIL}
BEGIN SELECT RAISE(ABORT, 'a segment begins where the last one ended'); END;
CREATE TRIGGER segmentos_sem_update BEFORE UPDATE ON segmentos
BEGIN SELECT RAISE(ABORT, 'the archive of the audit log only grows'); END;
CREATE TRIGGER segmentos_sem_delete BEFORE DELETE ON segmentos
BEGIN SELECT RAISE(ABORT, 'the archive of the audit log only grows'); END;
DROP TRIGGER eventos_sem_delete;
CREATE TRIGGER eventos_sem_delete BEFORE DELETE ON eventos WHEN OLD.seq > ${ARCHIVED_UNTIL}
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
${ENTRY_SUBJECTS_OF_REMOVED}
`
