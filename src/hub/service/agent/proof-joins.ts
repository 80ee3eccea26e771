// A request with the proof of a host's own key in place of a token: which join rule it is for. First what needs no signature, then the
// rules by one look-up for each key, then one signature, then what each rule trusts; of rules and names nothing is told before the
// signature is seen. What a proof is made of is a file of its method. docs/protocol.md JNR-23 to JNR-29.

import type { Clock } from '../../../platform/clock.ts'
import {
  type HostStatement,
  type ProofMethod,
  type ProofText,
  splitProof,
} from '../../../protocol/host-proof.ts'
import type { JoinRuleId } from '../../../protocol/identifiers.ts'
import type { ProofFault } from '../../domain/host-proof.ts'
import { findStatementFault, useIdOf } from '../../domain/host-statement.ts'
import { deriveTokenHash, JOIN_REFUSALS, type JoinRule, useKeyOf } from '../../domain/join-rule.ts'
import type { StoreReader } from '../../store/store.ts'
import { type FoundUse, RULES_OF_KEY_MAX } from '../find-token-use.ts'
import { readCertificateProof } from './certificate-proof.ts'
import { chooseRule, findUser } from './choose-rule.ts'
import type { JoinRefusal, JoinRefusals } from './join-refusals.ts'
import { readSshProof } from './ssh-proof.ts'

/** A proof as its method reads it, before anything of it is believed. */
export interface ShownProof {
  readonly statement: HostStatement
  /** The CAs and keys that it says vouch for it, as rules name them in `lookUpKeys`. */
  readonly lookUpKeys: readonly string[]
  /** Why the key that it shows has not signed the statement; undefined when it has. */
  findSignatureFault(): string | undefined
  /** Whether the rule trusts that key for this name. */
  judge(rule: JoinRule, at: { readonly hostname: string; readonly now: Date }): ProofVerdict
}

export type ProofVerdict =
  | {
      readonly ok: true
      /** What the log says of the host, beside the rule. */
      readonly said: Readonly<Record<string, string>>
    }
  | {
      readonly ok: false
      readonly fault: ProofFault
      readonly detail: string
      /** One of `lookUpKeys` that vouches for this host by no rule: those that it alone has found are not read. */
      readonly disproved?: string
    }

/** Undefined for what has not the form. */
export type ReadProof = (parts: ProofText['parts']) => ShownProof | undefined

const READERS: Readonly<Record<ProofMethod, ReadProof>> = {
  x5c: readCertificateProof,
  ssh: readSshProof,
}

/** What keeps a rule from letting the host in, in the order in which it is looked at: a rule with a later fault goes further. */
const FURTHER: Readonly<Record<ProofFault, number>> = {
  signature: 0,
  certificate: 1,
  revoked: 2,
  proof_name: 3,
}

export interface ProofJoinsDependencies {
  readonly reader: StoreReader
  readonly clock: Clock
  readonly hubNames: readonly string[]
  readonly refusals: Pick<JoinRefusals, 'note'>
}

export interface ProofRequest {
  readonly token: string
  readonly hostname: string
  readonly role: string
  /** Hex; undefined for a request without a CSR. */
  readonly csrSha256: string | undefined
}

/** Of the rules that trust what vouches for the host the one that lets it in; else the one that goes furthest says why not. */
export async function findProofUse(
  { reader, clock, hubNames, refusals }: ProofJoinsDependencies,
  request: ProofRequest,
): Promise<FoundUse> {
  const { hostname, role } = request
  const text = splitProof(request.token)
  const proof = text && READERS[text.method](text.parts)
  if (text === undefined || proof === undefined) return { ok: false, refusal: 'token_not_found' }
  const now = clock.now()
  const { statement } = proof
  const found = await findRuleIds(reader, proof)
  const used = await findUser(reader, useIdOf(statement))
  if (used?.rule !== undefined && !found.has(used.rule.id)) found.set(used.rule.id, undefined)
  const [first] = found.keys()
  const refuse = async (
    fault: Pick<JoinRefusal, 'reason' | 'detail'>,
    of?: JoinRule,
  ): Promise<FoundUse> => {
    const rule = of ?? (first && (await reader.findJoinRule(first)))
    if (rule !== undefined) refusals.note(rule, { ...fault, hostname, role })
    return { ok: false, refusal: JOIN_REFUSALS[fault.reason] }
  }
  const fault = findStatementFault(statement, { ...request, hubNames, now })
  // The same whether there is a rule or not: a stranger does not learn whom the rules trust.
  if (fault !== undefined) return refuse(fault)
  if (first === undefined) return { ok: false, refusal: 'token_not_found' }
  const unsigned = proof.findSignatureFault()
  if (unsigned !== undefined) return refuse({ reason: 'signature', detail: unsigned })

  const judged = await judgeRules(reader, found, (rule) =>
    rule.proof.method === text.method ? proof.judge(rule, { hostname, now }) : undefined,
  )
  const covering = judged.flatMap(({ rule, verdict }) =>
    verdict.ok ? [{ ...rule, said: verdict.said }] : [],
  )
  const rule = chooseRule(covering, { hostname, role, now, used })
  if (rule !== undefined) {
    const tokenHash = deriveTokenHash(useKeyOf(rule), hostname)
    const expiresAt = new Date(statement.exp * 1000)
    const shown = { id: useIdOf(statement), expiresAt, said: rule.said }
    return { ok: true, use: { tokenHash, joinRuleId: rule.id, hostname, role, shown } }
  }
  const [furthest] = judged
    .flatMap(({ rule: of, verdict }) => (verdict.ok ? [] : [{ of, ...verdict }]))
    .toSorted((one, other) => FURTHER[other.fault] - FURTHER[one.fault])
  if (furthest === undefined) return { ok: false, refusal: 'token_not_found' }
  return refuse({ reason: furthest.fault, detail: furthest.detail }, furthest.of)
}

/** Each with the key by which it was found first, or as that by which the host has asked before. */
type FoundRules = Map<JoinRuleId, string | undefined>

async function findRuleIds(reader: StoreReader, { lookUpKeys }: ShownProof): Promise<FoundRules> {
  const found: FoundRules = new Map()
  for (const key of lookUpKeys) {
    for (const id of await reader.listJoinRulesByKey(key, RULES_OF_KEY_MAX)) {
      if (!found.has(id)) found.set(id, key)
    }
  }
  return found
}

interface JudgedRule {
  readonly rule: JoinRule
  readonly verdict: ProofVerdict
}

/** One after the other: what a stranger forged is seen at the first. */
async function judgeRules(
  reader: StoreReader,
  found: FoundRules,
  judge: (rule: JoinRule) => ProofVerdict | undefined,
): Promise<JudgedRule[]> {
  const judged: JudgedRule[] = []
  const disproved = new Set<string>()
  for (const [id, key] of found) {
    if (key !== undefined && disproved.has(key)) continue
    const rule = await reader.findJoinRule(id)
    const verdict = rule && judge(rule)
    if (rule === undefined || verdict === undefined) continue
    judged.push({ rule, verdict })
    if (!verdict.ok && verdict.disproved !== undefined) disproved.add(verdict.disproved)
  }
  return judged
}
