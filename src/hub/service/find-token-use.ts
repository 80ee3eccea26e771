// Which token a request uses: one that was made for its host, or the token of a join rule, from which the hub derives one for the host.
// docs/protocol.md JNR-2.

import type { WireErrorCode } from '../../protocol/errors.ts'
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
  /** What the host shows in place of a token, which is for one host. */
  readonly shown?: ShownUse
}

/** Rules for the tokens of one issuer, each of which may be looked at for a request. docs/protocol.md JNR-17. */
export const RULES_OF_ISSUER_MAX = 50
/** Rules that trust one CA, or one key. docs/protocol.md JNR-25. */
export const RULES_OF_KEY_MAX = 50

export interface ShownUse {
  readonly id: string
  readonly expiresAt: Date
  /** For the log: who vouches for the host. */
  readonly said: Readonly<Record<string, string | null>>
}

export type FoundUse =
  | { readonly ok: true; readonly use: TokenUse }
  | { readonly ok: false; readonly refusal: WireErrorCode }

export type FoundToken =
  | { readonly token: EnrollmentToken | undefined }
  | { readonly rule: JoinRule; readonly refused: Extract<JoinVerdict, { ok: false }> }

/** Whether another host has used it: it is for one. docs/protocol.md JNR-21. */
export async function isUsedElsewhere(
  reader: StoreReader,
  { hostname, shown }: TokenUse,
): Promise<boolean> {
  if (shown === undefined) return false
  const user = await reader.findJoinProof(shown.id)
  return user !== undefined && user.hostname !== hostname
}

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
