import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import { fromDate, toDate } from './instants.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts. */
export const BOUNDED_ACCESS_TOKENS = `
-- The selector of the hosts that the token is for; null for all.
ALTER TABLE admin_tokens ADD COLUMN somente TEXT;
`

interface AccessTokenRow {
  readonly token_hash: TokenHash
  readonly name: string
  readonly role: AccessToken['role']
  readonly somente: string | null
  readonly created_at: number
  readonly expires_at: number
  readonly last_used_at: number | null
  readonly revoked_at: number | null
  readonly ended_at: number | null
}

const OPEN = 'revoked_at IS NULL AND ended_at IS NULL'

export function selectAccessToken(session: SqlSession, hash: TokenHash): AccessToken | undefined {
  const row = session.get<AccessTokenRow>('SELECT * FROM admin_tokens WHERE token_hash = ?', hash)
  return row === undefined ? undefined : toAccessToken(row)
}

export function selectAccessTokens(session: SqlSession): AccessToken[] {
  const sql = 'SELECT * FROM admin_tokens ORDER BY ordem DESC'
  return session.all<AccessTokenRow>(sql).map(toAccessToken)
}

export function insertAccessToken(session: SqlSession, token: AccessToken): void {
  session.insert('admin_tokens', fromAccessToken(token))
}

export function updateAccessToken(session: SqlSession, token: AccessToken): void {
  session.update('admin_tokens', 'token_hash', fromAccessToken(token))
}

export function setAccessTokenUsed(session: SqlSession, hash: TokenHash, at: Date): void {
  const sql = 'UPDATE admin_tokens SET last_used_at = ? WHERE token_hash = ?'
  // Else each use would have the manifest of each agent read again.
  session.about('no agent', () => session.run(sql, at.getTime(), hash))
}

export function endExpiredAccessTokens(session: SqlSession, now: Date): void {
  const sql = `UPDATE admin_tokens INDEXED BY admin_tokens_por_fim SET ended_at = ?
     WHERE ${OPEN} AND expires_at <= ?`
  session.run(sql, now.getTime(), now.getTime())
}

/** When the first one ends that ends later than now. */
export function selectFirstAccessTokenEnd(session: SqlSession, now: Date): Date | undefined {
  const sql = `SELECT expires_at FROM admin_tokens INDEXED BY admin_tokens_por_fim
     WHERE ${OPEN} AND expires_at > ? ORDER BY expires_at LIMIT 1`
  const first = session.get<{ expires_at: number }>(sql, now.getTime())?.expires_at
  return first === undefined ? undefined : new Date(first)
}

function toAccessToken(row: AccessTokenRow): AccessToken {
  return {
    hash: row.token_hash,
    name: row.name,
    role: row.role,
    only: row.somente,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    lastUsedAt: toDate(row.last_used_at),
    revokedAt: toDate(row.revoked_at),
    endedAt: toDate(row.ended_at),
  }
}

function fromAccessToken(token: AccessToken): AccessTokenRow {
  return {
    token_hash: token.hash,
    name: token.name,
    role: token.role,
    somente: token.only,
    created_at: token.createdAt.getTime(),
    expires_at: token.expiresAt.getTime(),
    last_used_at: fromDate(token.lastUsedAt),
    revoked_at: fromDate(token.revokedAt),
    ended_at: fromDate(token.endedAt),
  }
}
