// Who is at the admin port, by the admin token that came along.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import { isGood, type AccessToken } from '../../domain/access-token.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { findAccessToken } from './find-access-token.ts'

/** Undefined for a token that is unknown, expired or revoked: the hub does not say which. */
export type AuthenticateOperator = (plaintext: string) => Promise<AccessToken | undefined>

const USE_RECORDED_EVERY_MS = 60_000

export function createAuthenticateOperator(
  store: Store,
  clock: Clock,
  log: Logger,
): AuthenticateOperator {
  /** An end is written also while a use is: what was refused as expired once stays so. */
  const [uses, ends] = [new Set<TokenHash>(), new Set<TokenHash>()]
  /** Not waited for: a disk that is full must not lock out the operator who comes to look. */
  const note = (
    noting: Set<TokenHash>,
    hash: TokenHash,
    work: (writer: StoreWriter) => Promise<void>,
  ): void => {
    if (noting.has(hash)) return
    noting.add(hash)
    store
      .write(work)
      .catch((error: unknown) =>
        log.warn({ reason: describeError(error) }, 'Use of an admin token not stored'),
      )
      .finally(() => noting.delete(hash))
  }
  return async (plaintext) => {
    const now = clock.now()
    const token = await findAccessToken(store.reader, plaintext)
    if (token === undefined) return undefined
    const { hash } = token
    if (hasJustExpired(token, now)) {
      note(ends, hash, (writer) => writer.endExpiredTokens(token.expiresAt))
    }
    if (!isGood(token, now)) return undefined
    if (isUseDue(token, now)) note(uses, hash, (writer) => writer.setAccessTokenUsed(hash, now))
    return token
  }
}

/** And stays so, wherever the clock goes: docs/protocol.md API-4. */
function hasJustExpired({ expiresAt, endedAt, revokedAt }: AccessToken, now: Date): boolean {
  return endedAt === null && revokedAt === null && expiresAt <= now
}

/** Also after the clock was set back. */
function isUseDue({ lastUsedAt }: AccessToken, now: Date): boolean {
  return (
    lastUsedAt === null || Math.abs(now.getTime() - lastUsedAt.getTime()) >= USE_RECORDED_EVERY_MS
  )
}
