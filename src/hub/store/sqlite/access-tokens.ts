import type { TokenHash } from '../../../protocol/identifiers.ts'
import { type AccessToken, type Person, spellingsOf } from '../../domain/access-token.ts'
import type { PeopleRoom } from '../session-store.ts'
import { fromDate, toDate } from './instants.ts'
import { fromPerson, type PersonColumns, toPerson } from './person-columns.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts. */
export const BOUNDED_ACCESS_TOKENS = `
-- The selector of the hosts that the token is for; null for all.
ALTER TABLE admin_tokens ADD COLUMN somente TEXT;
`

/** A step of migrations.ts. */
export const TOKENS_OF_PEOPLE = `
-- Whom an OpenID provider signed in; null for a token that an operator made.
ALTER TABLE admin_tokens ADD COLUMN emissor TEXT;
ALTER TABLE admin_tokens ADD COLUMN sujeito TEXT;
CREATE INDEX sessoes_por_token ON sessoes (token_hash);
CREATE INDEX codigos_de_entrada_por_token ON codigos_de_entrada (token_hash);
CREATE INDEX admin_tokens_de_pessoas ON admin_tokens (name, ordem) WHERE emissor IS NOT NULL;
CREATE INDEX admin_tokens_por_pessoa ON admin_tokens (emissor, sujeito, ordem) WHERE emissor IS NOT NULL;
CREATE INDEX admin_tokens_de_pessoas_por_fim ON admin_tokens (expires_at) WHERE emissor IS NOT NULL;
`

export interface AccessTokenRow extends PersonColumns {
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

const LEAVING_MAX = 100
const OPEN = 'revoked_at IS NULL AND ended_at IS NULL'

export function selectAccessToken(session: SqlSession, hash: TokenHash): AccessToken | undefined {
  const row = session.get<AccessTokenRow>('SELECT * FROM admin_tokens WHERE token_hash = ?', hash)
  return row === undefined ? undefined : toAccessToken(row)
}

export function selectAccessTokens(session: SqlSession): AccessToken[] {
  const sql = 'SELECT * FROM admin_tokens ORDER BY ordem DESC'
  return session.all<AccessTokenRow>(sql).map(toAccessToken)
}

/** Of the people who are called so, newest first. */
export function selectTokensOfPeople(session: SqlSession, name: string): AccessToken[] {
  const sql = `SELECT * FROM admin_tokens INDEXED BY admin_tokens_de_pessoas
    WHERE emissor IS NOT NULL AND name = ? ORDER BY ordem DESC`
  return session.all<AccessTokenRow>(sql, name).map(toAccessToken)
}

/** Under whatever name, newest first. */
export function selectTokensOfPerson(session: SqlSession, person: Person): AccessToken[] {
  const sql = `SELECT * FROM admin_tokens INDEXED BY admin_tokens_por_pessoa
    WHERE emissor IN (SELECT value FROM json_each(?)) AND sujeito = ? ORDER BY ordem DESC`
  const issuers = JSON.stringify(spellingsOf(person.issuer))
  return session.all<AccessTokenRow>(sql, issuers, person.subject).map(toAccessToken)
}

/** With all that refers to them. No more at once than a write can bear: the next one goes on. */
export function removeTokensOfPeople(
  session: SqlSession,
  { endedBefore, now, keptMax, also }: PeopleRoom,
): void {
  const hashes = `SELECT token_hash FROM admin_tokens INDEXED BY admin_tokens_de_pessoas_por_fim
    WHERE emissor IS NOT NULL AND expires_at`
  const old = session.column<TokenHash>(`${hashes} < ? LIMIT ?`, endedBefore.getTime(), LEAVING_MAX)
  const beyond = session.column<TokenHash>(
    `${hashes} <= ? ORDER BY expires_at DESC LIMIT ? OFFSET ?`,
    now.getTime(),
    LEAVING_MAX,
    keptMax,
  )
  for (const hash of new Set([...old, ...beyond, ...also.slice(0, LEAVING_MAX)])) {
    session.run('DELETE FROM sessoes WHERE token_hash = ?', hash)
    session.run('DELETE FROM codigos_de_entrada WHERE token_hash = ?', hash)
    session.run('DELETE FROM admin_tokens WHERE token_hash = ?', hash)
  }
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

export function toAccessToken(row: AccessTokenRow): AccessToken {
  return {
    hash: row.token_hash,
    name: row.name,
    role: row.role,
    only: row.somente,
    person: toPerson(row),
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
    ...fromPerson(token.person),
    created_at: token.createdAt.getTime(),
    expires_at: token.expiresAt.getTime(),
    last_used_at: fromDate(token.lastUsedAt),
    revoked_at: fromDate(token.revokedAt),
    ended_at: fromDate(token.endedAt),
  }
}
