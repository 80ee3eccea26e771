// Who is at the admin port, by both halves of a session. docs/protocol.md SES-3, SES-6.

import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../../platform/clock.ts'
import type { Logger } from '../../../../platform/logger.ts'
import type { TokenHash } from '../../../../protocol/identifiers.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import { endOf, isKnownOpen, isSessionOpen, type KnownSession } from '../../../domain/session.ts'
import type { Store } from '../../../store/store.ts'
import { findTokenByHash } from '../find-access-token.ts'
import { createNoteLater, isUseDue } from '../note-later.ts'

export interface SessionHalves {
  readonly cookie: string
  readonly secret: string
}

/** Only who has both halves is told that the session has ended; undefined for whatever else is no session. */
export type AuthenticateSession = (
  halves: SessionHalves,
  /** Whether it puts off the end of an idle session. */
  isUse: boolean,
) => Promise<KnownSession | 'ended' | undefined>

const NOT_STORED = 'Use or end of a session not stored'

export function createAuthenticateSession(
  store: Store,
  clock: Clock,
  log: Logger,
): AuthenticateSession {
  const noteUse = createNoteLater(store, log, NOT_STORED)
  /** As of a token: docs/protocol.md API-4. */
  const noteEnd = createNoteLater(store, log, NOT_STORED)
  return async ({ cookie, secret }, isUse) => {
    const now = clock.now()
    const cookieHash = hashToken(cookie)
    const session = await store.reader.sessions.find(cookieHash)
    // Compared with itself when there is none: finding one takes no longer than finding none.
    const isWhole = isSame(session?.secretHash ?? cookieHash, hashToken(secret))
    if (session === undefined || !isWhole) return undefined
    const token = await findTokenByHash(store.reader, session.tokenHash)
    if (session.endedAt === null && !isSessionOpen(session, now)) {
      noteEnd(cookieHash, (writer) => writer.sessions.setEnded(cookieHash, endOf(session, now)))
    }
    if (token === undefined || !isKnownOpen({ session, token }, now)) return 'ended'
    if (isUse && isUseDue(session.lastUsedAt, now)) {
      noteUse(cookieHash, (writer) => writer.sessions.setUsed(cookieHash, now))
    }
    return { session, token }
  }
}

function isSame(one: TokenHash, other: TokenHash): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
