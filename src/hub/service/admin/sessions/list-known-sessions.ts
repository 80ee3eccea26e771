import type { TokenHash } from '../../../../protocol/identifiers.ts'
import type { AccessToken } from '../../../domain/access-token.ts'
import type { KnownSession } from '../../../domain/session.ts'
import type { StoreReader } from '../../../store/store.ts'

/** All that are kept, newest first. */
export async function listKnownSessions(reader: StoreReader): Promise<readonly KnownSession[]> {
  const sessions = await reader.sessions.list()
  const tokens = new Map<TokenHash, AccessToken | undefined>()
  for (const hash of new Set(sessions.map(({ tokenHash }) => tokenHash))) {
    tokens.set(hash, await reader.findAccessToken(hash))
  }
  return sessions.flatMap((session) => {
    const token = tokens.get(session.tokenHash)
    return token === undefined ? [] : [{ session, token }]
  })
}
