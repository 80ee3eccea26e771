// A request with the token of a workload's platform in place of one that the hub made: which join rule it is for. What is cheap
// is looked at first; of the name nothing is told before the issuer's signature is seen. docs/protocol.md JNR-18 to JNR-22.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { IssuerKeys } from '../../domain/issuer-keys.ts'
import {
  decideJoin,
  deriveTokenHash,
  JOIN_REFUSALS,
  type JoinRefusalReason,
  type JoinRule,
  useKeyOf,
} from '../../domain/join-rule.ts'
import type { WorkloadProof } from '../../domain/workload-proof.ts'
import {
  findClaimFault,
  findTimeFault,
  parseWorkloadToken,
  type WorkloadToken,
} from '../../domain/workload-token.ts'
import type { StoreReader } from '../../store/store.ts'
import { RULES_OF_ISSUER_MAX, type TokenUse } from '../find-token-use.ts'
import type { JoinRefusals } from './join-refusals.ts'

export type FoundUse =
  | { readonly ok: true; readonly use: TokenUse }
  | { readonly ok: false; readonly refusal: WireErrorCode }

export interface WorkloadJoinsDependencies {
  readonly reader: StoreReader
  readonly clock: Clock
  readonly log: Logger
  readonly keys: IssuerKeys
  readonly refusals: Pick<JoinRefusals, 'note'>
}

interface WorkloadRule extends JoinRule {
  readonly proof: WorkloadProof
}

/** Of the rules of its issuer the one that lets the host in; else the one that goes furthest says why not. */
export async function findWorkloadUse(
  { reader, clock, log, keys, refusals }: WorkloadJoinsDependencies,
  request: { readonly token: string; readonly hostname: string; readonly role: string },
): Promise<FoundUse> {
  const token = parseWorkloadToken(request.token)
  if (token === undefined) return { ok: false, refusal: 'token_not_found' }
  const { rules, user } = await rulesOf(reader, token)
  const refuse = (rule: JoinRule, reason: JoinRefusalReason): FoundUse => {
    const { hostname, role } = request
    refusals.note(rule, { reason, hostname, role })
    return { ok: false, refusal: JOIN_REFUSALS[reason] }
  }
  const now = clock.now()
  const timely = rules.filter(({ proof }) => findTimeFault(token, proof, now) === undefined)
  const [first] = rules
  if (first === undefined) return { ok: false, refusal: 'token_not_found' }
  if (timely.length === 0) {
    return refuse(first, findTimeFault(token, first.proof, now) ?? 'audience')
  }
  const signed: WorkloadRule[] = []
  // Most often all of them have the same keys: what was asked once is known.
  const verdicts = new Map<string, Awaited<ReturnType<IssuerKeys['verify']>>>()
  for (const rule of timely) {
    const source = JSON.stringify([rule.proof.keys, rule.proof.keysUrl])
    const verdict = verdicts.get(source) ?? (await keys.verify(token.text, rule.proof))
    verdicts.set(source, verdict)
    if (verdict.ok) signed.push(rule)
    else if (verdict.why === 'unavailable') {
      log.warn({ join_rule: rule.name, reason: verdict.reason }, 'Keys of an issuer not at hand')
    }
  }
  const [known] = signed
  if (known === undefined) {
    const isUnknown = [...verdicts.values()].some((each) => !each.ok && each.why === 'unavailable')
    if (isUnknown) return { ok: false, refusal: 'unavailable' }
    return refuse(timely[0] ?? first, 'signature')
  }
  const covering = signed.filter(
    ({ proof }) => findClaimFault(token, proof, request.hostname) === undefined,
  )
  const [claimed] = covering
  if (claimed === undefined) {
    const faults = signed.map(({ proof }) => findClaimFault(token, proof, request.hostname))
    const at = faults.indexOf('hostname_claim')
    return refuse(signed[at] ?? known, faults[at] ?? 'claim')
  }
  const { hostname, role } = request
  // A host that asks again does so by the same rule. Where none lets the host in, that of its role says why, as of a token of its own.
  const rule =
    covering.find((each) => deriveTokenHash(useKeyOf(each), hostname) === user) ??
    covering.find((each) => decideJoin(each, { hostname, role, now }).ok) ??
    covering.find((each) => each.role === role) ??
    claimed
  return { ok: true, use: useOf(rule, token, request) }
}

/** Those of its issuer in force, and the one by which the token was used, also when somebody has ended that since. */
async function rulesOf(
  reader: StoreReader,
  { id, issuer }: WorkloadToken,
): Promise<{ readonly rules: WorkloadRule[]; readonly user: TokenHash | undefined }> {
  const rules = await reader.listJoinRulesOfIssuer(issuer, RULES_OF_ISSUER_MAX)
  const user = await reader.findJoinProof(id)
  const usedBy = user && (await reader.findToken(user))?.joinRuleId
  const isListed = rules.some((rule) => rule.id === usedBy)
  const ended = usedBy && !isListed ? await reader.findJoinRule(usedBy) : undefined
  const all = ended === undefined ? rules : [...rules, ended]
  return { rules: all.filter((rule): rule is WorkloadRule => rule.proof.method === 'jwt'), user }
}

function useOf(
  rule: WorkloadRule,
  { id, expiresAt, issuer, subject }: WorkloadToken,
  { hostname, role }: { readonly hostname: string; readonly role: string },
): TokenUse {
  const tokenHash = deriveTokenHash(useKeyOf(rule), hostname)
  const workload = { id, expiresAt, issuer, subject: subject ?? null }
  return { tokenHash, joinRuleId: rule.id, hostname, role, workload }
}
