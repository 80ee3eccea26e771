import { timeOrderedUuid } from '../../../platform/time-ordered-uuid.ts'
import type { CertificateRequest } from '../../../pki/csr.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { AgentId, JoinRuleId, Recipient } from '../../../protocol/identifiers.ts'
import { type Labels, toLabelRecord } from '../../../protocol/labels.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { SignedCertificate } from '../../ca/certificate-authority.ts'
import type { Agent } from '../../domain/agent.ts'
import { decideEnrollment } from '../../domain/decide-enrollment.ts'
import type { EnrollmentToken } from '../../domain/enrollment-token.ts'
import type { HostRules } from '../../domain/host-rules.ts'
import { enrolledLabels, findLabelChange } from '../../domain/label-change.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { type AutomaticDeliveries, deliverAutomatically } from '../cargo/deliver-automatically.ts'
import { findUsedToken, type ShownUse } from '../find-token-use.ts'
import { findRules, mayOperatorsReenroll } from '../find-rules.ts'
import { nameNarrowing, recordCertificate, recordHubAct } from '../hub-acts.ts'
import { changeRecipient } from './record-recipient.ts'
import { renewDeliveriesOf } from '../cargo/replace-delivery.ts'

export interface EnrollmentToCommit {
  readonly token: EnrollmentToken
  readonly csr: CertificateRequest
  readonly signed: SignedCertificate
  readonly fingerprint: string | undefined
  readonly recipient: Recipient | undefined
  readonly shown?: ShownUse | undefined
  readonly hubNames: readonly string[]
  readonly now: Date
}

export type CommittedEnrollment =
  | { readonly ok: true; readonly agentId: AgentId }
  | { readonly ok: false; readonly refusal: WireErrorCode }

/** Agent, certificate, token, deliveries and log entries in one commit; the token, or the join rule, is looked at once more. */
export async function commitEnrollment(
  writer: StoreWriter,
  { token, csr, signed, fingerprint, recipient, shown, hubNames, now }: EnrollmentToCommit,
): Promise<CommittedEnrollment> {
  const known = await writer.findAgentByHostname(token.expectedHostname)
  const { hash: tokenHash, joinRuleId, expectedHostname: hostname, expectedRole: role } = token
  const found = await findUsedToken(writer, { tokenHash, joinRuleId, hostname, role }, now)
  if ('refused' in found) return { ok: false, refusal: found.refused.refusal }
  const verdict = decideEnrollment({
    token: found.token,
    hostname,
    role,
    enrolledAgent: known,
    mayOperatorsReenroll: await mayOperatorsReenroll(writer, token, known),
    hubNames,
    now,
  })
  if (!verdict.ok) return verdict

  const agent = toEnrolledAgent(known, token, now)
  const answered = { agentId: agent.id, certificatePem: signed.chainPem }
  const replay = fingerprint === undefined ? null : { fingerprint, ...answered }
  const spent = { ...verdict.token, consumedAt: now, replay }
  await (joinRuleId === null ? writer.updateToken(spent) : writer.insertToken(spent))
  await (known === undefined ? writer.insertAgent(agent) : writer.updateAgent(agent))
  await writer.setAgentCertificate(agent.id, signed.chainPem)
  // A host that is enrolled again was rebuilt, and is empty.
  if (known !== undefined) await renewDeliveriesOf(writer, agent, now)
  await giveLabels(writer, agent.id, token.labels)
  const rules = await findRules(writer, agent)
  const automatic = await deliverAutomatically(writer, agent, rules.automaticCargoes, now)
  await recordHubAct(writer, now, HubEventType.agentEnrolled, {
    actor: 'token',
    token_id: token.hash.slice(0, 16),
    agente_id: agent.id,
    hostname: agent.hostname,
    role: agent.role,
    ...(token.labels.size > 0 && { labels: toLabelRecord(token.labels) }),
    reenroll: known !== undefined,
    ...(await nameRule(writer, joinRuleId)),
    ...shown?.said,
    ...nameAutomatic(rules, automatic),
  })
  // A host that was rebuilt without a recipient cannot open what is sealed to the one that it had.
  if (known !== undefined || recipient !== undefined) {
    await changeRecipient(writer, now, { agent, recipient, actor: 'token' })
  }
  // The agent itself tells the hub which roots it trusts now.
  if (known !== undefined) await writer.removeAgentTrust(agent.id)
  await writer.tellOthers({ agents: [agent.id] })
  await recordCertificate(writer, now, {
    agent,
    signed,
    csr,
    purpose: 'identity',
    delivery: null,
    request: 'enrollment',
    rules,
  })
  return { ok: true, agentId: agent.id }
}

/** What the agent of the host said before says nothing of the host that is there now. docs/protocol.md LBL-4. */
async function giveLabels(writer: StoreWriter, agentId: AgentId, ofToken: Labels): Promise<void> {
  const before = (await writer.listLabels([agentId])).get(agentId) ?? new Map<string, string>()
  const change = findLabelChange(agentId, before, enrolledLabels(before, ofToken))
  if (change !== undefined) await writer.changeLabels([change])
}

/** Of a host without any politica the log says nothing of them. docs/protocol.md POL-14, POL-23. */
function nameAutomatic(
  { policyName, narrowing }: HostRules,
  automatic: AutomaticDeliveries,
): Readonly<Record<string, unknown>> | undefined {
  if (policyName === undefined && narrowing.length === 0) return undefined
  return {
    ...(policyName !== undefined && { politica: policyName }),
    ...nameNarrowing(narrowing),
    ...automatic,
  }
}

async function nameRule(
  reader: StoreReader,
  id: JoinRuleId | null,
): Promise<{ join_rule: string; join_rule_id: string } | undefined> {
  const rule = id === null ? undefined : await reader.findJoinRule(id)
  return rule && { join_rule: rule.name, join_rule_id: rule.id }
}

function toEnrolledAgent(known: Agent | undefined, token: EnrollmentToken, now: Date): Agent {
  return {
    // Ids that sort by time: the rows of agents that enrol together are neighbours in every index that begins with them.
    id: known?.id ?? (timeOrderedUuid(now) as AgentId),
    hostname: token.expectedHostname,
    role: token.expectedRole,
    enrolledWith: token.hash,
    createdAt: known?.createdAt ?? now,
    lastSeenAt: known?.lastSeenAt ?? null,
    revokedAt: null,
    removedAt: null,
    activeIdentity: known?.activeIdentity ?? null,
  }
}
