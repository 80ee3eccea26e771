import { endToken } from '../../domain/enrollment-token.ts'
import type { StoreWriter } from '../../store/store.ts'

/**
 * For good, and all of them: those whose time is over as well, which a clock that is set back would make good again. What
 * is made after this commit is not touched: the order of commits says what was there, not the clock. docs/protocol.md TOK-9.
 */
export async function endOpenTokens(
  writer: StoreWriter,
  hostname: string,
  now: Date,
): Promise<number> {
  await writer.endExpiredTokens(now)
  const open = await writer.findOpenTokens(hostname, now)
  for (const token of open) await writer.updateToken(endToken(token, now))
  return open.length
}
