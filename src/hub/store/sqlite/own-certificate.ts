// The last certificates of the hub itself that the audit log names: their entries may be archived. docs/protocol.md EVD-15.

import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts. */
export const OWN_CERTIFICATES = `
CREATE TABLE certificados_proprios (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE
) STRICT;
`

/** A hub that was killed before it had stored the last one, however often, starts with the one before. */
const KEPT = 20

export function isOwnCertificate(session: SqlSession, sha256: string): boolean {
  const sql = 'SELECT 1 FROM certificados_proprios WHERE sha256 = ?'
  return session.get(sql, sha256) !== undefined
}

export function insertOwnCertificate(session: SqlSession, sha256: string): void {
  session.run('INSERT OR REPLACE INTO certificados_proprios (sha256) VALUES (?)', sha256)
  session.run(
    `DELETE FROM certificados_proprios
     WHERE id <= (SELECT max(id) FROM certificados_proprios) - ${KEPT}`,
  )
}
