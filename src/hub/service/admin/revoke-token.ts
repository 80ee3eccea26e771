import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import { endToken, type EnrollmentToken, isOpen } from '../../domain/enrollment-token.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { toAdminToken } from '../admin-views.ts'
import { hashToken } from '../hash-token.ts'
import { recordHubAct } from '../hub-acts.ts'

const BEGINNING_OF_HASH = /^[0-9a-f]{8,64}$/

/** Named by id (eight characters or more), by plaintext, or by the hostname of an open token. */
export async function revokeToken(
  store: Store,
  clock: Clock,
  { token: wanted }: AdminRequest<'revokeToken'>,
  actor: Actor,
): Promise<AdminReplies['revokeToken']> {
  return store.write(async (writer) => {
    const now = clock.now()
    const tokens = await findNamed(writer, wanted, now)
    const [token, ...others] = tokens
    if (token === undefined) {
      throw new UserError(
        'token_not_found',
        `no token ${wanted.startsWith('svct_') ? 'of that text' : wanted}`,
        {
          hint: 'svc token list shows ids and hostnames',
        },
      )
    }
    if (others.length > 0)
      throw new UserError('token_ambiguous', `${wanted} names more than one token`)
    if (token.consumedAt !== null) {
      throw new UserError('token_consumed', 'the token was used already', {
        hint: `svc agente revoke ${token.expectedHostname} ends what it enrolled`,
      })
    }
    if (isOpen(token, now)) {
      await writer.updateToken(endToken(token, now))
      await recordHubAct(writer, now, HubEventType.tokenRevoked, {
        actor,
        token_id: token.hash.slice(0, 16),
        hostname: token.expectedHostname,
      })
      return toAdminToken({ ...token, expiresAt: now })
    }
    return toAdminToken(token)
  })
}

/** Each once. */
async function findNamed(
  reader: StoreReader,
  wanted: string,
  now: Date,
): Promise<EnrollmentToken[]> {
  const byText = await reader.findToken(hashToken(wanted))
  const named = [
    ...(BEGINNING_OF_HASH.test(wanted) ? await reader.findTokensByPrefix(wanted) : []),
    ...(byText === undefined ? [] : [byText]),
    ...(await reader.findOpenTokens(wanted, now)),
  ]
  return [...new Map(named.map((token) => [token.hash, token])).values()]
}
