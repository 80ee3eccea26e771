// Which of several join rules that take what a host shows is the one that it joins by. docs/protocol.md JNR-18.

import type { TokenHash } from '../../../protocol/identifiers.ts'
import { decideJoin, deriveTokenHash, type JoinRule, useKeyOf } from '../../domain/join-rule.ts'
import type { StoreReader } from '../../store/store.ts'

/** The rule by which something was used, also when somebody has ended it since. */
export async function findUser(
  reader: StoreReader,
  useId: string,
): Promise<{ readonly user: TokenHash; readonly rule: JoinRule | undefined } | undefined> {
  const user = await reader.findJoinProof(useId)
  if (user === undefined) return undefined
  const id = (await reader.findToken(user))?.joinRuleId
  return { user, rule: id ? await reader.findJoinRule(id) : undefined }
}

export interface RuleChoice {
  readonly hostname: string
  readonly role: string
  readonly now: Date
  /** The token that it was used for. */
  readonly user: TokenHash | undefined
}

/** A host that asks again does so by the same rule. Where none lets the host in, that of its role says why, as of a token of its own. */
export function chooseRule<R extends JoinRule>(
  covering: readonly R[],
  { hostname, role, now, user }: RuleChoice,
): R | undefined {
  return (
    covering.find((each) => deriveTokenHash(useKeyOf(each), hostname) === user) ??
    covering.find((each) => decideJoin(each, { hostname, role, now }).ok) ??
    covering.find((each) => each.role === role) ??
    covering[0]
  )
}
