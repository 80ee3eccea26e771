// Which token a request uses: one that was made for its host, or the token of a join rule, from which the hub derives one for the host.
// docs/protocol.md JNR-2.

import type { JoinRuleId, TokenHash } from '../../protocol/identifiers.ts'
import type { EnrollmentToken } from '../domain/enrollment-token.ts'
import {
  decideJoin,
  deriveTokenHash,
  type JoinRule,
  type JoinVerdict,
} from '../domain/join-rule.ts'
import type { StoreReader } from '../store/store.ts'

export interface TokenUse {
  /** Of the host's own token, whether it was made or is derived. */
  readonly tokenHash: TokenHash
  /** Null for a token that was made for its host. */
  readonly joinRuleId: JoinRuleId | null
  readonly hostname: string
  readonly role: string
}

export type FoundToken =
  | { readonly token: EnrollmentToken | undefined }
  | { readonly rule: JoinRule; readonly refused: Extract<JoinVerdict, { ok: false }> }

/** Undefined for what is neither; by two look-ups. */
export async function findTokenUse(
  reader: StoreReader,
  tokenHash: TokenHash,
  { hostname, role }: Pick<TokenUse, 'hostname' | 'role'>,
): Promise<TokenUse | undefined> {
  if ((await reader.findToken(tokenHash)) !== undefined) {
    return { tokenHash, joinRuleId: null, hostname, role }
  }
  const rule = await reader.findJoinRuleByToken(tokenHash)
  if (rule === undefined) return undefined
  const derived = deriveTokenHash(tokenHash, hostname)
  return { tokenHash: derived, joinRuleId: rule.id, hostname, role }
}

/** A derived token that its host has used is in its table; before that the rule as it is now says whether the host gets it. */
export async function findUsedToken(
  reader: StoreReader,
  { tokenHash, joinRuleId, hostname, role }: TokenUse,
  now: Date,
): Promise<FoundToken> {
  const token = await reader.findToken(tokenHash)
  if (token !== undefined || joinRuleId === null) return { token }
  const rule = await reader.findJoinRule(joinRuleId)
  if (rule === undefined) return { token: undefined }
  const verdict = decideJoin(rule, { hostname, role, now })
  return verdict.ok ? { token: verdict.token } : { rule, refused: verdict }
}

/** A host that the CA is asked for holds a place. What becomes of the request gives the place back, or keeps it. docs/protocol.md JNR-6. */
export async function hasPlace(reader: StoreReader, id: JoinRuleId): Promise<boolean> {
  const rule = await reader.findJoinRule(id)
  return rule !== undefined && rule.hosts + (await reader.countJoinClaims(id)) < rule.hostsMax
}
