import { endToken } from '../domain/enrollment-token.ts'
import type { StoreWriter } from '../store/store.ts'

/**
 * Permanently ends all open tokens, expired ones as well, which would otherwise work again when somebody sets the clock back.
 * It leaves alone the tokens made after this commit: the order of commits decides, not the clock. docs/protocol.md TOK-9.
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
