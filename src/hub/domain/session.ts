// What a page of the console comes with in place of an admin token: two halves, of which the hub keeps the hashes.

import { SESSION_IDLE_SECONDS, SESSION_TTL_MAX_SECONDS } from '../../protocol/admin/sessions.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'

export interface Session {
  /** Of the half in the cookie, by which a session is found. */
  readonly cookieHash: TokenHash
  /** Of the half in the header: each of them is compared by itself, so that neither does without the other. */
  readonly secretHash: TokenHash
  /** Of the admin token that it is for: role, bound and end are looked up there with each request. */
  readonly tokenHash: TokenHash
  /** It was begun from there. */
  readonly address: string
  readonly startedAt: Date
  /** To the minute. */
  readonly lastUsedAt: Date
  readonly endsAt: Date
  /** When somebody ended it, or the hub first had it down that its time was over. */
  readonly endedAt: Date | null
}

/** Begins one session, once. */
export interface SignInCode {
  readonly hash: TokenHash
  /** Of the admin token that the session is for. */
  readonly tokenHash: TokenHash
  readonly expiresAt: Date
  readonly usedAt: Date | null
}

/** So many open ones has a token. */
const SESSIONS_PER_TOKEN_MAX = 50
/** And so many are kept of it, with those that have ended, whose pages are told so. */
const SESSIONS_KEPT_PER_TOKEN_MAX = 100
/** All that are kept. */
const SESSIONS_KEPT_MAX = 2000
/** After its end at the latest a session is kept so long. */
const SESSION_KEPT_MS = 7 * 86_400_000

const ID_LENGTH = 16

/** Enough of its hash to name it; nothing that opens a door. */
export function sessionIdOf({ cookieHash }: Pick<Session, 'cookieHash'>): string {
  return cookieHash.slice(0, ID_LENGTH)
}

/** Never beyond its token. */
export function sessionEnd(startedAt: Date, tokenExpiresAt: Date): Date {
  const endMs = startedAt.getTime() + SESSION_TTL_MAX_SECONDS * 1000
  return new Date(Math.min(endMs, tokenExpiresAt.getTime()))
}

export function idleEnd({ lastUsedAt, endsAt }: Pick<Session, 'lastUsedAt' | 'endsAt'>): Date {
  const endMs = lastUsedAt.getTime() + SESSION_IDLE_SECONDS * 1000
  return new Date(Math.min(endMs, endsAt.getTime()))
}

/** Whether its time is not over; its token has to be good as well. */
export function isSessionOpen(session: Session, now: Date): boolean {
  return session.endedAt === null && idleEnd(session) > now
}

export interface SessionRoom {
  /** Open ones, which end for the new one. */
  readonly ending: readonly Session[]
  /** Kept no longer. */
  readonly leaving: readonly Session[]
}

/** What goes before one more begins; `all` is newest first. */
export function decideSessionRoom(
  all: readonly Session[],
  tokenHash: TokenHash,
  now: Date,
): SessionRoom {
  const own = all.filter((session) => session.tokenHash === tokenHash)
  const leaving = new Set([
    ...all.slice(SESSIONS_KEPT_MAX - 1),
    ...own.slice(SESSIONS_KEPT_PER_TOKEN_MAX - 1),
    ...all.filter(({ endsAt }) => now.getTime() - endsAt.getTime() >= SESSION_KEPT_MS),
  ])
  const tooMany = own
    .filter((session) => isSessionOpen(session, now))
    .slice(SESSIONS_PER_TOKEN_MAX - 1)
  const ending = new Set([
    ...tooMany,
    ...[...leaving].filter((session) => isSessionOpen(session, now)),
  ])
  return { ending: [...ending], leaving: [...leaving] }
}
