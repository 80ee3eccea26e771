// Who somebody is whom an OpenID provider signed in, and what the person may do. docs/protocol.md OID-5 to OID-8.

import type { AdminRole } from '../../protocol/admin/roles.ts'
import type { Person } from './access-token.ts'
import type { OpenidClaims } from './openid-provider.ts'
import { EVERYBODY, GROUP_CHARACTERS_MAX, type RoleOfGroup } from './openid-roles.ts'

export interface SignInRules {
  readonly nameClaim: string
  readonly groupsClaim: string
  /** The first one that matches decides. */
  readonly roles: readonly RoleOfGroup[]
}

export type SignInVerdict =
  | {
      readonly ok: true
      readonly name: string
      readonly person: Person
      readonly role: AdminRole
      readonly only: string | null
    }
  | {
      readonly ok: false
      readonly refusal: 'sign_in_no_role' | 'sign_in_name_invalid' | 'sign_in_provider_refused'
      readonly reason: string
      /** As far as it is known and can be shown. */
      readonly name?: string
      readonly person?: Person
    }

export const GROUPS_MAX = 1000
/** OpenID Connect Core 1.0, section 2. */
const SUBJECT = /^[ -~]{1,255}$/
/** An `@`, which no name has that an operator gave (API-5). */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/

export function decideSignIn(claims: OpenidClaims, rules: SignInRules): SignInVerdict {
  const { issuer, subject, all } = claims
  if (!SUBJECT.test(subject)) {
    return {
      ok: false,
      refusal: 'sign_in_provider_refused',
      reason: 'its sub is not 1 to 255 characters of ASCII',
    }
  }
  const person: Person = { issuer, subject }
  const named = nameOf(claims, rules.nameClaim)
  if ('reason' in named) {
    return { ok: false, refusal: 'sign_in_name_invalid', reason: named.reason, person }
  }
  const { name } = named
  const groups = groupsOf(all[rules.groupsClaim])
  if (groups === undefined) {
    return {
      ok: false,
      refusal: 'sign_in_provider_refused',
      reason: `its ${rules.groupsClaim} has more than ${GROUPS_MAX} groups`,
      name,
      person,
    }
  }
  const found = rules.roles.find(({ group }) => group === EVERYBODY || groups.has(group))
  if (found !== undefined) {
    const { role, only } = found
    return { ok: true, name, person, role, only }
  }
  // How many, and not which: they say what else the person is.
  const reason = `none of ${groups.size} groups in its ${rules.groupsClaim} is in SVC_OIDC_ROLES`
  return { ok: false, refusal: 'sign_in_no_role', reason, name, person }
}

function nameOf(
  { issuer, all }: OpenidClaims,
  claim: string,
): { readonly name: string } | { readonly reason: string } {
  const value = all[claim]
  if (typeof value !== 'string' || value === '') {
    return { reason: `it sent no ${claim}: SVC_OIDC_SCOPES or SVC_OIDC_NAME_CLAIM` }
  }
  const verified = all['email_verified']
  if (claim === 'email' && (verified === false || verified === 'false')) {
    return { reason: 'it has not verified the email address' }
  }
  const name = value.includes('@') ? value : `${value}@${new URL(issuer).hostname}`
  // An address is one however it is written; a name that differs in its case alone would pass for it.
  if (NAME.test(name)) return { name: name.toLowerCase() }
  return {
    reason: `its ${claim} has other characters than letters, digits and . _ + - around one @, or too many`,
  }
}

/** One alone counts as a list of it. Undefined for too many: which of them count shall not depend on their order. */
function groupsOf(value: unknown): ReadonlySet<string> | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length > GROUPS_MAX) return undefined
  const isGroup = (each: unknown): each is string =>
    typeof each === 'string' && each !== '' && each.length <= GROUP_CHARACTERS_MAX
  return new Set(list.filter(isGroup))
}
