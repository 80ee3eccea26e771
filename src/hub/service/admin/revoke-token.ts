import { AdminRefusal, type Write } from '../admin-act.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { endToken, type EnrollmentToken, isOpen } from '../../domain/enrollment-token.ts'
import type { StoreReader } from '../../store/store.ts'
import { toAdminToken } from '../admin-views.ts'
import { hashToken } from '../../domain/hash-token.ts'
import type { AdminContext } from './admin-context.ts'

const BEGINNING_OF_HASH = /^[0-9a-f]{8,64}$/
const SECRET = /^svc[taj]_/

/** Named by id (eight characters or more), by plaintext, or by the hostname of an open token. */
export const revokeToken: Write<'revokeToken', Pick<AdminContext, 'clock'>> = async (
  writer,
  { token: wanted },
  { clock },
) => {
  const now = clock.now()
  const tokens = await findNamed(writer, wanted, now)
  const [token, ...others] = tokens
  if (token === undefined) {
    throw new AdminRefusal(
      'token_not_found',
      `no token ${SECRET.test(wanted) ? 'of that text' : wanted}`,
    )
  }
  if (others.length > 0)
    throw new AdminRefusal('token_ambiguous', `${wanted} names more than one token`)
  if (token.consumedAt !== null) {
    throw new AdminRefusal('token_consumed', 'somebody has already used the token', {
      hostname: token.expectedHostname,
    })
  }
  if (!isOpen(token, now)) return { acts: [], reply: toAdminToken(token) }
  await writer.updateToken(endToken(token, now))
  const act = { token_id: token.hash.slice(0, 16), hostname: token.expectedHostname }
  return {
    acts: [{ type: HubEventType.tokenRevoked, payload: act }],
    reply: toAdminToken({ ...token, expiresAt: now }),
  }
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
