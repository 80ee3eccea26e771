import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { Session, SignInCode } from '../../domain/session.ts'
import { fromDate, toDate } from './instants.ts'

/** A step of migrations.ts. */
export const SESSIONS = `
-- Of the console: who signed in, by the hashes of both halves of the session.
CREATE TABLE sessoes (
  ordem INTEGER PRIMARY KEY,
  cookie_hash TEXT NOT NULL UNIQUE,
  secret_hash TEXT NOT NULL,
  token_hash TEXT NOT NULL REFERENCES admin_tokens (token_hash),
  endereco TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
-- Each begins one session, once.
CREATE TABLE codigos_de_entrada (
  code_hash TEXT NOT NULL PRIMARY KEY,
  token_hash TEXT NOT NULL REFERENCES admin_tokens (token_hash),
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX codigos_de_entrada_por_validade ON codigos_de_entrada (expires_at);
`

export interface SessionRow {
  readonly cookie_hash: TokenHash
  readonly secret_hash: TokenHash
  readonly token_hash: TokenHash
  readonly endereco: string
  readonly started_at: number
  readonly last_used_at: number
  readonly ends_at: number
  readonly ended_at: number | null
}

export interface SignInCodeRow {
  readonly code_hash: TokenHash
  readonly token_hash: TokenHash
  readonly expires_at: number
  readonly used_at: number | null
}

export function toSession(row: SessionRow): Session {
  return {
    cookieHash: row.cookie_hash,
    secretHash: row.secret_hash,
    tokenHash: row.token_hash,
    address: row.endereco,
    startedAt: new Date(row.started_at),
    lastUsedAt: new Date(row.last_used_at),
    endsAt: new Date(row.ends_at),
    endedAt: toDate(row.ended_at),
  }
}

export function fromSession(session: Session): SessionRow {
  return {
    cookie_hash: session.cookieHash,
    secret_hash: session.secretHash,
    token_hash: session.tokenHash,
    endereco: session.address,
    started_at: session.startedAt.getTime(),
    last_used_at: session.lastUsedAt.getTime(),
    ends_at: session.endsAt.getTime(),
    ended_at: fromDate(session.endedAt),
  }
}

export function toSignInCode(row: SignInCodeRow): SignInCode {
  return {
    hash: row.code_hash,
    tokenHash: row.token_hash,
    expiresAt: new Date(row.expires_at),
    usedAt: toDate(row.used_at),
  }
}

export function fromSignInCode(code: SignInCode): SignInCodeRow {
  return {
    code_hash: code.hash,
    token_hash: code.tokenHash,
    expires_at: code.expiresAt.getTime(),
    used_at: fromDate(code.usedAt),
  }
}
