// What the hub notes of a caller that it lets in, or no longer: written in the background, once at a time for each credential. Not
// waited for, since a disk that is full must not lock out the operator who comes to look.

import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { Store, StoreWriter } from '../../store/store.ts'

export type NoteLater = (hash: TokenHash, work: (writer: StoreWriter) => Promise<void>) => void

const USE_RECORDED_EVERY_MS = 60_000

export function createNoteLater(store: Store, log: Logger, failed: string): NoteLater {
  const noting = new Set<TokenHash>()
  return (hash, work) => {
    if (noting.has(hash)) return
    noting.add(hash)
    store
      .write(work)
      .catch((error: unknown) => log.warn({ reason: describeError(error) }, failed))
      .finally(() => noting.delete(hash))
  }
}

/** Also after the clock was set back. */
export function isUseDue(lastUsedAt: Date | null, now: Date): boolean {
  return (
    lastUsedAt === null || Math.abs(now.getTime() - lastUsedAt.getTime()) >= USE_RECORDED_EVERY_MS
  )
}
