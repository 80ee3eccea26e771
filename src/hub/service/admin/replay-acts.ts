// What was done after the backup is done again to a restored vault: each act as it was, in its order. docs/protocol.md BKP-19.

import type { AgentId, Hostname, JoinRuleId, TokenHash } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import { endToken, type EnrollmentToken, isOpen } from '../../domain/enrollment-token.ts'
import type { RememberedAct } from '../../domain/remembered-act.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { AdminAct } from '../admin-act.ts'
import { cancelDeliveries } from '../cargo/change-delivery.ts'
import { deliverAutomatically } from '../cargo/deliver-automatically.ts'
import { listStandingDeliveries } from '../cargo/replace-delivery.ts'
import { findRules } from '../find-rules.ts'
import { endOpenTokens } from '../end-open-tokens.ts'

type ActOf<Type extends RememberedAct['type']> = Extract<RememberedAct, { type: Type }>

/** As the log has those that do it. */
const ACTOR = 'restore'

/** What it did, for the log: an act that changes nothing is none. */
export async function replayActs(
  writer: StoreWriter,
  acts: readonly RememberedAct[],
  now: Date,
): Promise<readonly AdminAct[]> {
  const done: AdminAct[] = []
  for (const act of acts) done.push(...(await replay(writer, act, now)))
  return done
}

async function replay(
  writer: StoreWriter,
  act: RememberedAct,
  now: Date,
): Promise<readonly AdminAct[]> {
  switch (act.type) {
    case 'agent_enrolled':
      return enrol(writer, act, now)
    case 'agent_revoked':
      return revoke(writer, act, now)
    case 'agent_removed':
      return remove(writer, act, now)
    case 'token_revoked':
      return end(writer, act, now)
    case 'join_rule_ended':
      return endRule(writer, act, now)
    default:
      return endAccessToken(writer, act, now)
  }
}

/** The token is spent. The agent is there, without an identity: that comes back by its receipt. */
async function enrol(
  writer: StoreWriter,
  act: ActOf<'agent_enrolled'>,
  now: Date,
): Promise<readonly AdminAct[]> {
  const at = new Date(act.at)
  const enrolledWith = act.token as TokenHash
  const token = await writer.findToken(enrolledWith)
  // An earlier restore did it again, and kept that too: what came after it may not be undone.
  if (token !== undefined && token.consumedAt !== null) return []
  const rule = await writer.findJoinRule((act.join_rule ?? '') as JoinRuleId)
  if (token === undefined) await writer.insertToken(spentToken(act, at, rule?.id ?? null))
  else await writer.updateToken({ ...token, consumedAt: at })
  const known = await writer.findAgentById(act.agente_id as AgentId)
  if (known === undefined) {
    // The act that freed the hostname is not kept, or is of another epoch.
    if ((await writer.findAgentByHostname(act.hostname)) !== undefined) return []
    const agent = newAgent(act, at)
    await writer.insertAgent(agent)
    const { automaticCargoes } = await findRules(writer, agent)
    await deliverAutomatically(writer, agent, automaticCargoes, now)
  } else {
    if (known.removedAt !== null) return []
    await writer.updateAgent({ ...known, role: act.role, enrolledWith, revokedAt: null })
  }
  const { agente_id, hostname, role } = act
  const reenroll = known !== undefined
  const ofRule = rule && { join_rule: rule.name, join_rule_id: rule.id }
  return [said(act, { token_id: idOf(act.token), agente_id, hostname, role, reenroll, ...ofRule })]
}

async function revoke(
  writer: StoreWriter,
  act: ActOf<'agent_revoked'>,
  now: Date,
): Promise<readonly AdminAct[]> {
  const { agente_id, hostname } = act
  const agent = await writer.findAgentById(agente_id as AgentId)
  if (agent === undefined || agent.removedAt !== null) return []
  const ended = await endOpenTokens(writer, hostname, now)
  if (agent.revokedAt !== null && ended === 0) return []
  await writer.updateAgent({ ...agent, revokedAt: agent.revokedAt ?? now })
  await writer.revokeCertificates(agent.id, now)
  return [said(act, { agente_id, hostname, tokens_ended: ended })]
}

async function remove(
  writer: StoreWriter,
  act: ActOf<'agent_removed'>,
  now: Date,
): Promise<readonly AdminAct[]> {
  const { agente_id, hostname } = act
  const agent = await writer.findAgentById(agente_id as AgentId)
  if (agent === undefined || agent.revokedAt === null || agent.removedAt !== null) return []
  const standing = await listStandingDeliveries(writer, { agentId: agent.id })
  const cancelled = await cancelDeliveries(writer, standing, now)
  await endOpenTokens(writer, hostname, now)
  await writer.updateAgent({ ...agent, removedAt: now })
  return [...cancelled, said(act, { agente_id, hostname })]
}

async function end(
  writer: StoreWriter,
  act: ActOf<'token_revoked'>,
  now: Date,
): Promise<readonly AdminAct[]> {
  const token = await writer.findToken(act.token as TokenHash)
  if (token === undefined || !isOpen(token, now)) return []
  await writer.updateToken(endToken(token, now))
  return [said(act, { token_id: idOf(act.token), hostname: token.expectedHostname })]
}

async function endRule(
  writer: StoreWriter,
  act: ActOf<'join_rule_ended'>,
  now: Date,
): Promise<readonly AdminAct[]> {
  const rule = await writer.findJoinRule(act.join_rule as JoinRuleId)
  if (rule === undefined || rule.endedAt !== null) return []
  await writer.updateJoinRule({ ...rule, endedAt: now })
  return [said(act, { join_rule_id: rule.id, join_rule: rule.name, hosts: rule.hosts })]
}

async function endAccessToken(
  writer: StoreWriter,
  act: ActOf<'admin_token_revoked'>,
  now: Date,
): Promise<readonly AdminAct[]> {
  const token = await writer.findAccessToken(act.token as TokenHash)
  if (token === undefined || token.revokedAt !== null) return []
  await writer.updateAccessToken({ ...token, revokedAt: now })
  return [said(act, { admin_token_id: idOf(act.token), name: token.name })]
}

function said(act: RememberedAct, payload: Readonly<Record<string, unknown>>): AdminAct {
  return { type: act.type, payload: { actor: ACTOR, recorded_at: act.at, ...payload } }
}

function idOf(hash: string): string {
  return hash.slice(0, 16)
}

function newAgent({ agente_id, hostname, role, token }: ActOf<'agent_enrolled'>, at: Date): Agent {
  return {
    id: agente_id as AgentId,
    hostname: hostname as Hostname,
    role,
    enrolledWith: token as TokenHash,
    createdAt: at,
    lastSeenAt: null,
    revokedAt: null,
    removedAt: null,
    activeIdentity: null,
  }
}

/** It was made after the backup. */
function spentToken(
  { token, hostname, role }: ActOf<'agent_enrolled'>,
  at: Date,
  joinRuleId: JoinRuleId | null,
): EnrollmentToken {
  return {
    hash: token as TokenHash,
    expectedHostname: hostname as Hostname,
    expectedRole: role,
    labels: new Map(),
    createdAt: at,
    expiresAt: at,
    consumedAt: at,
    endedAt: at,
    isReenrollment: true,
    isOperators: false,
    mismatches: 0,
    joinRuleId,
    replay: null,
  }
}
