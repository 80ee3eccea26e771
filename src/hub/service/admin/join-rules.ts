// Join rules: made, listed, shown, ended. The plaintext of the token is in the answer to the one that made the rule and nowhere else.

import { randomBytes } from 'node:crypto'
import { formatDurationMs } from '../../../platform/durations.ts'
import { latestOf } from '../../../platform/instants.ts'
import {
  type AdminJoinedHost,
  type AdminJoinRule,
  JOIN_TOKEN_PREFIX,
  JOIN_TTL_DEFAULT_SECONDS,
  JOIN_TTL_MAX_SECONDS,
} from '../../../protocol/admin/join-rules.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import { type JoinRuleId, parseHostname } from '../../../protocol/identifiers.ts'
import { listLabels, toLabelRecord } from '../../../protocol/labels.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { possiblyMatching } from '../../domain/host-rules.ts'
import {
  isRuleInForce,
  type JoinProof,
  type JoinRule,
  stateOfRule,
} from '../../domain/join-rule.ts'
import { findPatternFault, matchesPattern } from '../../domain/name-pattern.ts'
import type { Policy, SelectorPolicy } from '../../domain/policy.ts'
import { policyOfRole, TOKEN_TTL_SECONDS_MAX } from '../../domain/role-rules.ts'
import type { JoinedHost, StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read, type Write } from '../admin-act.ts'
import { parseGivenLabels } from '../labels/parse-labels.ts'
import { readPage } from '../read-page.ts'
import type { AdminContext } from './admin-context.ts'
import { agentCommand, type AgentCommandContext } from './agent-command.ts'
import { parseWorkloadProof, toAdminWorkload } from './workload-proof.ts'

const TOKEN_BYTES = 32
const ID_BYTES = 8
const ID_LENGTH = 16

type Clocked = Pick<AdminContext, 'clock'>

export const createJoinRule: Write<'createJoinRule', Clocked & AgentCommandContext> = async (
  writer,
  request,
  context,
) => {
  const now = context.clock.now()
  const { name, role } = request
  refusePattern(request.pattern)
  const known = await writer.findJoinRuleNamed(name)
  if (known !== undefined && isRuleInForce(known, now)) {
    throw new AdminRefusal('join_rule_exists', `a join rule named ${name} exists`)
  }
  const { proof, token } = await makeProof(writer, request)
  const ofRole = policyOfRole(role, await writer.findPolicies(role))
  const selected = await writer.listSelectorPolicies()
  const ttlSeconds = chooseTtlSeconds(request, { ofRole, selected }, context.role)
  const rule = newJoinRule(request, proof, ttlSeconds, now)
  await writer.insertJoinRule(rule)
  const view = toAdminJoinRule(rule, now)
  const { state: _state, hosts: _hosts, ended_at: _endedAt, jwt, ...shown } = view
  const { id, name: _name, created_at: _createdAt, labels: _labels, ...bounds } = shown
  const labels = rule.labels.size > 0 && { labels: toLabelRecord(rule.labels) }
  const act = { join_rule_id: id, join_rule: name, ...bounds, ...(jwt && { jwt }), ...labels }
  return {
    acts: [{ type: HubEventType.joinRuleCreated, payload: act }],
    reply: {
      ...view,
      ...(token !== undefined && { token }),
      ...(await agentCommand(writer, context, { role, token })),
    },
  }
}

interface MadeProof {
  readonly proof: JoinProof
  /** In plaintext. */
  readonly token?: string
}

async function makeProof(
  reader: StoreReader,
  { method, jwt }: AdminRequest<'createJoinRule'>,
): Promise<MadeProof> {
  if ((method === 'jwt') !== (jwt !== undefined)) {
    throw new AdminRefusal('request_invalid', 'jwt goes with method jwt, and with no other')
  }
  if (jwt !== undefined) return { proof: await parseWorkloadProof(reader, jwt) }
  return makeTokenProof()
}

export function makeTokenProof(): MadeProof & { readonly token: string } {
  const token = `${JOIN_TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
  return { proof: { method: 'token', tokenHash: hashToken(token) }, token }
}

export function refusePattern(pattern: string): void {
  const fault = findPatternFault(pattern)
  if (fault !== undefined) throw new AdminRefusal('pattern_invalid', `${pattern} ${fault}`)
}

export function newJoinRule(
  { name, role, pattern, labels, hosts_max, silent_seconds }: NewJoinRule,
  proof: JoinProof,
  ttlSeconds: number,
  now: Date,
): JoinRule {
  return {
    id: randomBytes(ID_BYTES).toString('hex') as JoinRuleId,
    name,
    proof,
    role,
    pattern,
    labels: parseGivenLabels(labels),
    hostsMax: hosts_max,
    hosts: 0,
    silentMs: silent_seconds === undefined ? null : silent_seconds * 1000,
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
    endedAt: null,
    watch: null,
  }
}

type NewJoinRule = Omit<AdminRequest<'createJoinRule'>, 'method' | 'jwt' | 'ttl_seconds'>

type BoundedRule = Pick<NewJoinRule, 'role' | 'pattern' | 'labels'> & {
  readonly ttl_seconds?: number
}

/** That may say something of the hosts of a rule. */
export interface RulePolicies {
  readonly ofRole: Policy | undefined
  readonly selected: readonly SelectorPolicy[]
}

/** What politicas say of the tokens of any host that may join holds for this one, which many hosts have. docs/protocol.md JNR-5. */
export function chooseTtlSeconds(
  { role, pattern, labels: given, ttl_seconds: wanted }: BoundedRule,
  { ofRole, selected }: RulePolicies,
  by: AdminRole,
): number {
  const labels = parseGivenLabels(given)
  const mayBeNamed = (name: string): boolean => {
    const hostname = parseHostname(name)
    return hostname !== undefined && matchesPattern(pattern, hostname)
  }
  const ofHosts = possiblyMatching(selected, { role, labels }, mayBeNamed)
  const [policy] = [...(ofRole === undefined ? [] : [ofRole]), ...ofHosts]
    .filter(({ tokenTtlSecondsMax }) => tokenTtlSecondsMax !== null)
    .toSorted((one, other) => (one.tokenTtlSecondsMax ?? 0) - (other.tokenTtlSecondsMax ?? 0))
  const ofPolicy = policy?.tokenTtlSecondsMax ?? null
  const ofCaller = by === 'admin' ? JOIN_TTL_MAX_SECONDS : TOKEN_TTL_SECONDS_MAX
  const most = Math.min(ofPolicy ?? ofCaller, ofCaller)
  if (wanted === undefined) return Math.min(JOIN_TTL_DEFAULT_SECONDS, most)
  if (wanted <= most) return wanted
  const why =
    ofPolicy === most ? `: policy ${policy?.name}` : ' when a token of role operator makes it'
  throw new AdminRefusal(
    'ttl_too_long',
    `a join rule for role ${role} lives ${formatDurationMs(most * 1000)} at most${why}`,
  )
}

export const listJoinRules: Read<'listJoinRules', Clocked> = async (reader, request, { clock }) => {
  const now = clock.now()
  const { rows, next } = await readPage(request, reader.pageJoinRules.bind(reader), (rule) =>
    toAdminJoinRule(rule, now),
  )
  return { join_rules: rows, next }
}

export const showJoinRule: Read<'showJoinRule', Clocked> = async (
  reader,
  { join_rule },
  { clock },
) => toAdminJoinRule(await findRule(reader, join_rule), clock.now())

export const listJoinedHosts: Read<'listJoinedHosts'> = async (reader, { join_rule, ...page }) => {
  const { id } = await findRule(reader, join_rule)
  const { rows, next } = await readPage(
    page,
    (each) => reader.pageJoinedHosts(id, each),
    toAdminJoinedHost,
  )
  return { hosts: rows, next }
}

/** Ending twice is no error, nor is it to end what has expired. */
export const endJoinRule: Write<'endJoinRule', Clocked> = async (
  writer,
  { join_rule },
  { clock },
) => {
  const now = clock.now()
  const rule = await findRule(writer, join_rule)
  if (!isRuleInForce(rule, now)) return { acts: [], reply: toAdminJoinRule(rule, now) }
  const ended: JoinRule = { ...rule, endedAt: now }
  await writer.updateJoinRule(ended)
  const act = { join_rule_id: rule.id, join_rule: rule.name, hosts: rule.hosts }
  return {
    acts: [{ type: HubEventType.joinRuleEnded, payload: act }],
    reply: toAdminJoinRule(ended, now),
  }
}

/** The newest of this name, else the one of this id. */
async function findRule(reader: StoreReader, wanted: string): Promise<JoinRule> {
  const rule =
    (await reader.findJoinRuleNamed(wanted)) ?? (await reader.findJoinRule(wanted as JoinRuleId))
  if (rule !== undefined) return rule
  const said = wanted.startsWith(JOIN_TOKEN_PREFIX) ? 'by the text of its token' : wanted
  throw new AdminRefusal('join_rule_not_found', `no join rule ${said}`)
}

function toAdminJoinRule(rule: JoinRule, now: Date): AdminJoinRule {
  const state = stateOfRule(rule, now)
  const { endedAt, silentMs } = rule
  return {
    id: rule.id,
    name: rule.name,
    method: rule.proof.method,
    jwt: rule.proof.method === 'jwt' ? toAdminWorkload(rule.proof) : null,
    role: rule.role,
    pattern: rule.pattern,
    labels: listLabels(rule.labels),
    state,
    hosts: rule.hosts,
    hosts_max: rule.hostsMax,
    silent_seconds: silentMs === null ? null : silentMs / 1000,
    created_at: rule.createdAt.toISOString(),
    expires_at: rule.expiresAt.toISOString(),
    ended_at: state === 'ended' && endedAt !== null ? endedAt.toISOString() : null,
  }
}

function toAdminJoinedHost(host: JoinedHost): AdminJoinedHost {
  return {
    id: host.tokenHash.slice(0, ID_LENGTH),
    hostname: host.hostname,
    joined_at: host.joinedAt.toISOString(),
    agente_id: host.agentId,
    last_contact_at: latestOf([host.lastSeenAt, host.lastPollAt])?.toISOString() ?? null,
    revoked_at: host.revokedAt?.toISOString() ?? null,
  }
}
