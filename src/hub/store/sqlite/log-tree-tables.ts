// The tree over the log (audit/merkle-tree.ts): a hub fills it in while it runs, in a vault of any age. A step of migrations.ts.

import { KEPT_LEVEL_MIN } from '../../domain/log-tree.ts'

export const LOG_TREE: string = `
CREATE TABLE arvore (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chave BLOB NOT NULL,
  epoca INTEGER NOT NULL CHECK (epoca >= 1),
  origem TEXT NOT NULL,
  tamanho INTEGER NOT NULL CHECK (tamanho >= 0),
  -- One after the other, the largest subtree first.
  picos BLOB NOT NULL CHECK (length(picos) % 32 = 0),
  checkpoint TEXT NOT NULL,
  epocas TEXT NOT NULL CHECK (json_type(epocas) = 'array')
) STRICT;
CREATE TABLE arvore_nos (
  nivel INTEGER NOT NULL CHECK (nivel >= ${KEPT_LEVEL_MIN}),
  indice INTEGER NOT NULL CHECK (indice >= 0),
  resumo BLOB NOT NULL CHECK (length(resumo) = 32),
  PRIMARY KEY (nivel, indice)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER arvore_nos_sem_update BEFORE UPDATE ON arvore_nos
BEGIN SELECT RAISE(ABORT, 'the tree of the audit log only grows'); END;
CREATE TRIGGER arvore_nos_sem_delete BEFORE DELETE ON arvore_nos
BEGIN SELECT RAISE(ABORT, 'the tree of the audit log only grows'); END;
`

/** After an accepted loss the tree grows again from where the log ends. That no other change goes unseen, the signed root sees to. */
export const LOG_TREE_CUT = 'DROP TRIGGER arvore_nos_sem_update;'

/** What witnesses of others have signed. */
export const LOG_COSIGNED = 'ALTER TABLE arvore ADD COLUMN cossinado TEXT;'
