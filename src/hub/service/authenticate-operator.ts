// Who is at the admin port, by the admin token that came along.

import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'
import { isGood, type AccessToken } from '../domain/access-token.ts'
import type { Store } from '../store/store.ts'
import { hashToken } from './hash-token.ts'

/** Undefined for a token that is unknown, expired or revoked: nobody is told which. */
export type AuthenticateOperator = (plaintext: string) => Promise<AccessToken | undefined>

const USE_RECORDED_EVERY_MS = 60_000

export function createAuthenticateOperator(
  store: Store,
  clock: Clock,
  log: Logger,
): AuthenticateOperator {
  const noting = new Set<TokenHash>()
  return async (plaintext) => {
    const now = clock.now()
    const hash = hashToken(plaintext)
    // Found by a hash that whoever guesses cannot steer; how long the index takes says nothing of a token.
    const token = await store.reader.findAccessToken(hash)
    const isSame = timingSafeEqual(Buffer.from(token?.hash ?? hash), Buffer.from(hash))
    if (token === undefined || !isSame || !isGood(token, now)) return undefined
    if (isUseDue(token, now) && !noting.has(hash)) {
      noting.add(hash)
      // Not waited for: a disk that is full must not lock out whoever comes to look.
      store
        .write((writer) => writer.setAccessTokenUsed(hash, now))
        .catch((error: unknown) =>
          log.warn({ reason: describeError(error) }, 'Use of an admin token not stored'),
        )
        .finally(() => noting.delete(hash))
    }
    return token
  }
}

/** Also after the clock was set back. */
function isUseDue({ lastUsedAt }: AccessToken, now: Date): boolean {
  return (
    lastUsedAt === null || Math.abs(now.getTime() - lastUsedAt.getTime()) >= USE_RECORDED_EVERY_MS
  )
}
