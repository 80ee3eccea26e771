// The admin token that asks: shown, and ended by its holder, whatever its role. docs/protocol.md OID-40, OID-41.

import type { AccessToken } from '../../domain/access-token.ts'
import type { StoreReader } from '../../store/store.ts'
import { type AdminAsker, AdminRefusal, type Read, type Write } from '../admin-act.ts'
import { revokeTokens } from './access-token-acts.ts'
import { toAdminAccessToken } from './access-tokens.ts'
import type { AdminContext } from './admin-context.ts'
import { findTokenByHash } from './find-access-token.ts'

export const showOwnToken: Read<'showOwnToken'> = async (reader, _request, asker) =>
  toAdminAccessToken(await findOwn(reader, asker))

/** Not by a session: who only borrowed a page would end the token of a program. */
export const revokeOwnToken: Write<'revokeOwnToken', Pick<AdminContext, 'clock'>> = async (
  writer,
  _request,
  asker,
) => {
  if (asker.session !== undefined) {
    throw new AdminRefusal('admin_token_not_found', 'a session asks: it can end only itself')
  }
  const token = await findOwn(writer, asker)
  const now = asker.clock.now()
  return {
    acts: await revokeTokens(writer, [token], now, 'signed_out'),
    reply: toAdminAccessToken({ ...token, revokedAt: now }),
  }
}

async function findOwn(reader: StoreReader, { token: hash }: AdminAsker): Promise<AccessToken> {
  const token = hash && (await findTokenByHash(reader, hash))
  if (token !== undefined) return token
  throw new AdminRefusal('admin_token_not_found', 'no admin token asks')
}
