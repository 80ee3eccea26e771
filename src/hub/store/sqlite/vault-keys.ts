// How often the vault's keys have changed, as far as the audit log says it. docs/protocol.md KEY-4.

import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts: one row. */
export const VAULT_KEYS = `
CREATE TABLE chaves_do_cofre (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  geracao INTEGER NOT NULL
) STRICT;
INSERT INTO chaves_do_cofre (id, geracao) VALUES (1, 0);
`

export function selectKeysGeneration(session: SqlSession): number {
  const row = session.get<{ geracao: number }>('SELECT geracao FROM chaves_do_cofre WHERE id = 1')
  return row?.geracao ?? 0
}

export function updateKeysGeneration(session: SqlSession, generation: number): void {
  session.run('UPDATE chaves_do_cofre SET geracao = ? WHERE id = 1', generation)
}
