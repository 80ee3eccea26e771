// What a page of the console comes with in place of an admin token: two halves, of which the hub keeps the hashes.

import { SESSION_IDLE_SECONDS, SESSION_TTL_MAX_SECONDS } from '../../protocol/admin/sessions.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'
import { type AccessToken, holderOf, isGood } from './access-token.ts'

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

export interface KnownSession {
  readonly session: Session
  readonly token: AccessToken
}

/** Begins one session, once. */
export interface SignInCode {
  readonly hash: TokenHash
  /** Of the admin token that the session is for. */
  readonly tokenHash: TokenHash
  readonly expiresAt: Date
  readonly usedAt: Date | null
}

/** So many open ones has a holder. */
const OPEN_PER_HOLDER_MAX = 50
/** And so many are kept of it, with those that have ended, whose pages are told so. */
const KEPT_PER_HOLDER_MAX = 100
/** So many are open in all: what ends by that is kept as well. */
const OPEN_MAX = 1000
const KEPT_MAX = 2000
/** After its end at the latest a session is kept so long. */
const SESSION_KEPT_MS = 7 * 86_400_000
/** So far the clocks of hubs that share a vault may be apart. */
const CLOCKS_APART_MS = 60_000

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

/** Of one that is over, or that ends now; never later than now, whatever the clock was when it was used. */
export function endOf(session: Session, now: Date): Date {
  const endMs = (session.endedAt ?? idleEnd(session)).getTime()
  return new Date(Math.min(endMs, now.getTime()))
}

/** Whether its time is not over; its token has to be good as well. What a clock that ran ahead wrote is over. */
export function isSessionOpen(session: Session, now: Date): boolean {
  const latestMs = now.getTime() + CLOCKS_APART_MS
  const isOfLater = Math.max(session.startedAt.getTime(), session.lastUsedAt.getTime()) > latestMs
  return session.endedAt === null && !isOfLater && idleEnd(session) > now
}

export function isKnownOpen({ session, token }: KnownSession, now: Date): boolean {
  return isGood(token, now) && isSessionOpen(session, now)
}

export interface SessionRoom {
  /** Open ones, which end for the new one. */
  readonly ending: readonly KnownSession[]
  /** Kept no longer: none of them is open. */
  readonly leaving: readonly Session[]
}

/** What goes before one more of a holder begins; `all` is newest first. */
export function decideSessionRoom(
  all: readonly KnownSession[],
  holder: string,
  now: Date,
): SessionRoom {
  const holders = new Map(all.map((known) => [known, holderOf(known.token)]))
  const isOwn = (known: KnownSession): boolean => holders.get(known) === holder
  const open = all.filter((known) => isKnownOpen(known, now))
  const staying = new Set(open)
  for (const known of open.filter(isOwn).slice(OPEN_PER_HOLDER_MAX - 1)) {
    staying.delete(known)
  }
  while (staying.size >= OPEN_MAX) {
    staying.delete(findOldestOfMost([...staying], holders, holder))
  }
  const over = all
    .filter((known) => !staying.has(known))
    .toSorted((a, b) => endOf(b.session, now).getTime() - endOf(a.session, now).getTime())
  const ownStaying = [...staying].filter(isOwn)
  const leaving = new Set([
    ...over.slice(KEPT_MAX - 1 - staying.size),
    ...over.filter(isOwn).slice(KEPT_PER_HOLDER_MAX - 1 - ownStaying.length),
    ...over.filter(({ session }) => now.getTime() - session.endsAt.getTime() >= SESSION_KEPT_MS),
  ])
  return {
    ending: open.filter((known) => !staying.has(known)),
    leaving: [...leaving].map(({ session }) => session),
  }
}

/** So no holder ends a session of another one that has fewer. */
function findOldestOfMost(
  open: readonly KnownSession[],
  holders: ReadonlyMap<KnownSession, string>,
  holder: string,
): KnownSession {
  // With the one that begins.
  const counts = new Map([[holder, 1]])
  for (const known of open) {
    const each = holders.get(known) ?? ''
    counts.set(each, (counts.get(each) ?? 0) + 1)
  }
  const countOf = (known: KnownSession): number => counts.get(holders.get(known) ?? '') ?? 0
  return open.reduce((found, known) => (countOf(known) >= countOf(found) ? known : found))
}
