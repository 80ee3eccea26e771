// A request with the token of a workload's platform in place of one that the hub made: which join rule it is for. What is cheap
// is looked at first; of the name nothing is told before the issuer's signature is seen. docs/protocol.md JNR-18 to JNR-22.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { printableExtract } from '../../../platform/printable.ts'
import type { IssuerKeys, SignatureVerdict } from '../../domain/issuer-keys.ts'
import { deriveTokenHash, JOIN_REFUSALS, type JoinRule, useKeyOf } from '../../domain/join-rule.ts'
import type { WorkloadProof } from '../../domain/workload-proof.ts'
import {
  findClaimFault,
  findTimeFault,
  parseWorkloadToken,
  type WorkloadToken,
} from '../../domain/workload-token.ts'
import type { StoreReader } from '../../store/store.ts'
import { type FoundUse, RULES_OF_ISSUER_MAX, type TokenUse } from '../find-token-use.ts'
import { chooseRule, findUser, type RuleUser } from './choose-rule.ts'
import type { JoinRefusals } from './join-refusals.ts'

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

/** What keeps a rule from letting the host in, in the order in which it is looked at: a rule with a later fault goes further. */
const FURTHER = {
  audience: 0,
  lifetime: 0,
  signature: 1,
  unavailable: 2,
  claim: 3,
  hostname_claim: 4,
}
type Fault = keyof typeof FURTHER
/** For the log. */
const SUBJECT_CHARACTERS_MAX = 256

/** Of the rules of its issuer the one that lets the host in; else the one that goes furthest says why not. */
export async function findWorkloadUse(
  dependencies: WorkloadJoinsDependencies,
  request: { readonly token: string; readonly hostname: string; readonly role: string },
): Promise<FoundUse> {
  const { reader, clock, refusals } = dependencies
  const { hostname, role } = request
  const token = parseWorkloadToken(request.token)
  if (token === undefined) return { ok: false, refusal: 'token_not_found' }
  const { rules, used } = await rulesOf(reader, token)
  const now = clock.now()
  const verify = verifyOnce(dependencies, token)
  const covering: WorkloadRule[] = []
  let furthest: { readonly rule: WorkloadRule; readonly fault: Fault } | undefined
  for (const rule of rules) {
    const { proof } = rule
    const fault =
      findTimeFault(token, proof, now) ??
      (await verify(rule)) ??
      findClaimFault(token, proof, hostname)
    if (fault === undefined) covering.push(rule)
    else if (furthest === undefined || FURTHER[fault] > FURTHER[furthest.fault]) {
      furthest = { rule, fault }
    }
  }
  const rule = chooseRule(covering, { hostname, role, now, used })
  if (rule === undefined) {
    if (furthest === undefined) return { ok: false, refusal: 'token_not_found' }
    const { rule: of, fault } = furthest
    if (fault === 'unavailable') return { ok: false, refusal: fault }
    refusals.note(of, { reason: fault, hostname, role })
    return { ok: false, refusal: JOIN_REFUSALS[fault] }
  }
  return { ok: true, use: useOf(rule, token, request) }
}

/** Most often all rules of an issuer have its keys from one place: what was asked once is known. */
function verifyOnce(
  { keys, log }: WorkloadJoinsDependencies,
  { text }: WorkloadToken,
): (rule: WorkloadRule) => Promise<'signature' | 'unavailable' | undefined> {
  const verdicts = new Map<string, SignatureVerdict>()
  return async ({ id, name, proof }) => {
    const place = proof.keys === null ? (proof.keysUrl ?? '') : id
    const verdict = verdicts.get(place) ?? (await keys.verify(text, proof))
    verdicts.set(place, verdict)
    if (verdict.ok) return undefined
    if (verdict.why === 'bad') return 'signature'
    log.warn({ join_rule: name, reason: verdict.reason }, 'Keys of an issuer not at hand')
    return 'unavailable'
  }
}

/** Those of its issuer in force, and the one by which the token was used, also when somebody has ended that since. */
async function rulesOf(
  reader: StoreReader,
  { id, issuer }: WorkloadToken,
): Promise<{ readonly rules: WorkloadRule[]; readonly used: RuleUser | undefined }> {
  const rules = await reader.listJoinRulesOfIssuer(issuer, RULES_OF_ISSUER_MAX)
  const used = await findUser(reader, id)
  const isListed = rules.some((rule) => rule.id === used?.rule?.id)
  const all = used?.rule && !isListed ? [...rules, used.rule] : rules
  const ofMethod = all.filter((rule): rule is WorkloadRule => rule.proof.method === 'jwt')
  return { rules: ofMethod, used }
}

function useOf(
  rule: WorkloadRule,
  { id, expiresAt, issuer, subject }: WorkloadToken,
  { hostname, role }: { readonly hostname: string; readonly role: string },
): TokenUse {
  const tokenHash = deriveTokenHash(useKeyOf(rule), hostname)
  const said = {
    issuer,
    subject: subject ? printableExtract(subject, SUBJECT_CHARACTERS_MAX) : null,
  }
  const shown = { id, expiresAt, said }
  return { tokenHash, joinRuleId: rule.id, hostname, role, shown }
}
