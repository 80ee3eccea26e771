import type { TokenHash } from '../../../../protocol/identifiers.ts'
import type { AccessToken } from '../../../domain/access-token.ts'
import type { KnownSession, Session } from '../../../domain/session.ts'
import type { StoreReader } from '../../../store/store.ts'

/** In the order of the sessions; each token is looked up once. */
export async function findTokensOf(
  reader: StoreReader,
  sessions: readonly Session[],
): Promise<readonly KnownSession[]> {
  const tokens = new Map<TokenHash, AccessToken | undefined>()
  for (const hash of new Set(sessions.map(({ tokenHash }) => tokenHash))) {
    tokens.set(hash, await reader.findAccessToken(hash))
  }
  return sessions.flatMap((session) => {
    const token = tokens.get(session.tokenHash)
    return token === undefined ? [] : [{ session, token }]
  })
}
