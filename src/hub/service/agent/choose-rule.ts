// Which of several join rules that take what a host shows is the one that it joins by. docs/protocol.md JNR-18.

import type { TokenHash } from '../../../protocol/identifiers.ts'
import { decideJoin, deriveTokenHash, type JoinRule, useKeyOf } from '../../domain/join-rule.ts'
import type { StoreReader } from '../../store/store.ts'

export interface RuleUser {
  /** By which the CA was asked last for the host. */
  readonly tokenHash: TokenHash
  /** By which the host has joined, also when somebody has ended it since. */
  readonly rule: JoinRule | undefined
}

/** By which rule something was used that is for one host. */
export async function findUser(reader: StoreReader, useId: string): Promise<RuleUser | undefined> {
  const user = await reader.findJoinProof(useId)
  if (user === undefined) return undefined
  const { tokenHash } = user
  const id = (await reader.findToken(tokenHash))?.joinRuleId
  return { tokenHash, rule: id ? await reader.findJoinRule(id) : undefined }
}

export interface RuleChoice {
  readonly hostname: string
  readonly role: string
  readonly now: Date
  readonly used: RuleUser | undefined
}

/**
 * A host that has joined asks again by the same rule, and so does one that failed at the CA, while the rule lets it in. Where none lets
 * the host in, that of its role says why, as of a token of its own.
 */
export function chooseRule<R extends JoinRule>(
  covering: readonly R[],
  { hostname, role, now, used }: RuleChoice,
): R | undefined {
  const letsIn = (rule: R): boolean => decideJoin(rule, { hostname, role, now }).ok
  const own = covering.find((each) => deriveTokenHash(useKeyOf(each), hostname) === used?.tokenHash)
  if (own !== undefined && (used?.rule !== undefined || letsIn(own))) return own
  return covering.find(letsIn) ?? covering.find((each) => each.role === role) ?? covering[0]
}
