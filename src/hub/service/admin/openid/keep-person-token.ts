// The admin token of somebody whom an OpenID provider signed in. docs/protocol.md OID-6 to OID-8, OID-12.

import { HubEventType } from '../../../../protocol/words.ts'
import {
  type AccessToken,
  isGood,
  isSamePerson,
  type Person,
} from '../../../domain/access-token.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { AdminAct } from '../../admin-act.ts'
import { accessTokenIdOf } from '../access-tokens.ts'

/** So many good ones has a person. */
export const TOKENS_PER_PERSON_MAX = 20
/** What the hub still knows of those that have ended; the log has them all. */
const KEPT_MS = 30 * 86_400_000
const KEPT_MAX = 2000

export type PersonToken = AccessToken & { readonly person: Person }

/** What the log says of it; refuses the name that another person has now. */
export async function keepPersonToken(
  writer: StoreWriter,
  token: PersonToken,
): Promise<readonly AdminAct[] | 'sign_in_name_taken'> {
  const { createdAt: now, name, person } = token
  const good = (await writer.listTokensOfPeople(name)).filter((other) => isGood(other, now))
  if (good.some((other) => !isSamePerson(other.person, person))) return 'sign_in_name_taken'
  const acts: AdminAct[] = []
  for (const oldest of good.slice(TOKENS_PER_PERSON_MAX - 1)) {
    await writer.updateAccessToken({ ...oldest, revokedAt: now })
    const payload = { admin_token_id: accessTokenIdOf(oldest), name, reason: 'too_many' }
    acts.push({ type: HubEventType.accessTokenRevoked, payload })
  }
  const endedBefore = new Date(now.getTime() - KEPT_MS)
  await writer.sessions.removeTokensOfPeople({ now, endedBefore, keptMax: KEPT_MAX })
  await writer.insertAccessToken(token)
  const { role, only, expiresAt } = token
  const payload = {
    admin_token_id: accessTokenIdOf(token),
    name,
    role,
    expires_at: expiresAt.toISOString(),
    ...(only !== null && { only }),
    by: 'oidc',
    issuer: person.issuer,
    subject: person.subject,
  }
  return [...acts, { type: HubEventType.accessTokenCreated, payload }]
}
