// The admin token of somebody whom an OpenID provider signed in. docs/protocol.md OID-6 to OID-8, OID-12.

import {
  type AccessToken,
  isGood,
  isSamePerson,
  type Person,
} from '../../../domain/access-token.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { AdminAct } from '../../admin-act.ts'
import { actOfNewToken, revokeTokens } from '../access-token-acts.ts'

/** So many good ones has a person. */
export const TOKENS_PER_PERSON_MAX = 20
/** What the hub still knows of those that have ended; the log has them all. */
const KEPT_MS = 30 * 86_400_000
const KEPT_MAX = 2000
/** Of one person, who may sign in and out as often as there is time. */
const KEPT_PER_PERSON_MAX = 100

export type PersonToken = AccessToken & { readonly person: Person }

/** What the log says of it; refuses the name that another person has now. */
export async function keepPersonToken(
  writer: StoreWriter,
  token: PersonToken,
): Promise<readonly AdminAct[] | 'sign_in_name_taken'> {
  const { createdAt: now, name, person, role, only } = token
  const named = await writer.listTokensOfPeople(name)
  const isOther = (other: AccessToken): boolean => !isSamePerson(other.person, person)
  if (named.some((other) => isOther(other) && isGood(other, now))) return 'sign_in_name_taken'
  const own = await writer.listTokensOfPerson(person)
  const good = own.filter((other) => isGood(other, now))
  const isAlike = (other: AccessToken): boolean => other.role === role && other.only === only
  // The provider has just said what the person may do: what it said before counts no longer.
  const unlike = good.filter((other) => !isAlike(other))
  const tooMany = good.filter(isAlike).slice(TOKENS_PER_PERSON_MAX - 1)
  const acts = [
    ...(await revokeTokens(writer, unlike, now, 'rights_changed')),
    ...(await revokeTokens(writer, tooMany, now, 'too_many')),
  ]
  await writer.sessions.removeTokensOfPeople({
    now,
    endedBefore: new Date(now.getTime() - KEPT_MS),
    keptMax: KEPT_MAX,
    also: own
      .filter((other) => !isGood(other, now))
      .slice(KEPT_PER_PERSON_MAX)
      .map(({ hash }) => hash),
  })
  await writer.insertAccessToken(token)
  const { issuer, subject } = person
  return [...acts, actOfNewToken(token, { by: 'oidc', issuer, subject })]
}

/** Ends all good tokens of somebody whom the provider signed in, and who has no role any more. */
export async function endPersonTokens(
  writer: StoreWriter,
  person: Person,
  now: Date,
): Promise<readonly AdminAct[]> {
  const good = (await writer.listTokensOfPerson(person)).filter((token) => isGood(token, now))
  return revokeTokens(writer, good, now, 'rights_changed')
}
