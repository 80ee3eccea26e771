// Requests to the CA that are under way, and those that a hub which was killed has left behind. docs/protocol.md EVD-16.

import type { OpenSigning } from '../../domain/open-signing.ts'
import type { JoinRuleId, TokenHash } from '../../../protocol/identifiers.ts'
import type { Instant } from './instants.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts: one small row for each request that is under way. */
export const OPEN_SIGNINGS = `
CREATE TABLE assinaturas_abertas (
  id TEXT NOT NULL PRIMARY KEY,
  asked_at INTEGER NOT NULL,
  token_hash TEXT UNIQUE,
  pedido TEXT NOT NULL CHECK (json_type(pedido) = 'object')
) STRICT, WITHOUT ROWID;
`

interface SigningRow {
  readonly id: string
  readonly asked_at: Instant
  readonly token_hash: TokenHash | null
  readonly join_rule: JoinRuleId | null
  readonly pedido: string
}

const COLUMNS = 'id, asked_at, token_hash, join_rule, pedido'

export function insertOpenSigning(
  session: SqlSession,
  { id, askedAt, tokenHash, joinRuleId, ...asked }: OpenSigning,
): void {
  const sql = `INSERT INTO assinaturas_abertas (id, asked_at, token_hash, join_rule, pedido)
    VALUES (?, ?, ?, ?, ?)`
  session.runQuietly(sql, id, askedAt.getTime(), tokenHash, joinRuleId, JSON.stringify(asked))
}

export function selectSigningOfToken(
  session: SqlSession,
  tokenHash: TokenHash,
): OpenSigning | undefined {
  const sql = `SELECT ${COLUMNS} FROM assinaturas_abertas WHERE token_hash = ?`
  return session.all<SigningRow>(sql, tokenHash).map(readSigning)[0]
}

export function deleteOpenSigning(session: SqlSession, id: string): boolean {
  return session.runQuietly('DELETE FROM assinaturas_abertas WHERE id = ?', id) === 1
}

export function selectOpenSignings(session: SqlSession, limit: number): OpenSigning[] {
  const sql = `SELECT ${COLUMNS} FROM assinaturas_abertas
    WHERE id > '' ORDER BY id LIMIT ?`
  return session.all<SigningRow>(sql, limit).map(readSigning)
}

function readSigning(row: SigningRow): OpenSigning {
  return {
    id: row.id,
    askedAt: new Date(row.asked_at),
    tokenHash: row.token_hash,
    joinRuleId: row.join_rule,
    ...(JSON.parse(row.pedido) as Omit<OpenSigning, 'id' | 'askedAt' | 'tokenHash' | 'joinRuleId'>),
  }
}
