// The admin token that asks: shown, and ended by its holder, whatever its role. docs/protocol.md OID-40, OID-41.

import { HubEventType } from '../../../protocol/words.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import type { StoreReader } from '../../store/store.ts'
import { type AdminAsker, AdminRefusal, type Read, type Write } from '../admin-act.ts'
import { accessTokenIdOf, toAdminAccessToken } from './access-tokens.ts'
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
  const revoked: AccessToken = { ...token, revokedAt: asker.clock.now() }
  await writer.updateAccessToken(revoked)
  const { name } = token
  const payload = { admin_token_id: accessTokenIdOf(token), name, reason: 'signed_out' }
  return {
    acts: [{ type: HubEventType.accessTokenRevoked, payload }],
    reply: toAdminAccessToken(revoked),
  }
}

async function findOwn(reader: StoreReader, { token: hash }: AdminAsker): Promise<AccessToken> {
  const token = hash && (await findTokenByHash(reader, hash))
  if (token !== undefined) return token
  throw new AdminRefusal('admin_token_not_found', 'no admin token asks')
}
