// Who is at the admin port, by the admin token that came along.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { isGood, type AccessToken } from '../../domain/access-token.ts'
import type { Store } from '../../store/store.ts'
import { findAccessToken } from './find-access-token.ts'
import { createNoteLater, isUseDue } from './note-later.ts'

/** Undefined for a token that is unknown, expired or revoked: the hub does not say which. */
export type AuthenticateOperator = (plaintext: string) => Promise<AccessToken | undefined>

const NOT_STORED = 'Use of an admin token not stored'

export function createAuthenticateOperator(
  store: Store,
  clock: Clock,
  log: Logger,
): AuthenticateOperator {
  const noteUse = createNoteLater(store, log, NOT_STORED)
  /** An end is written also while a use is: what was refused as expired once stays so. */
  const noteEnd = createNoteLater(store, log, NOT_STORED)
  return async (plaintext) => {
    const now = clock.now()
    const token = await findAccessToken(store.reader, plaintext)
    if (token === undefined) return undefined
    const { hash } = token
    if (hasJustExpired(token, now)) {
      noteEnd(hash, (writer) => writer.endExpiredTokens(token.expiresAt))
    }
    if (!isGood(token, now)) return undefined
    if (isUseDue(token.lastUsedAt, now)) {
      noteUse(hash, (writer) => writer.setAccessTokenUsed(hash, now))
    }
    return token
  }
}

/** And stays so, wherever the clock goes: docs/protocol.md API-4. */
function hasJustExpired({ expiresAt, endedAt, revokedAt }: AccessToken, now: Date): boolean {
  return endedAt === null && revokedAt === null && expiresAt <= now
}
