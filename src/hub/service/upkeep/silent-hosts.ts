// Hosts that joined by a rule and vanished are revoked when the rule says after how long. docs/protocol.md JNR-14, JNR-15.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../platform/clock.ts'
import { latestOf } from '../../../platform/instants.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { AgentId, JoinRuleId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import { isSilent, nextWatch, type SilenceWatch } from '../../domain/silent-host.ts'
import type { JoinedHost, Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { endOpenTokens } from '../end-open-tokens.ts'
import { agentSlices } from '../agent-slices.ts'
import { recordHubAct } from '../hub-acts.ts'

export interface SilentHostsDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** Ends its connections, and has its certificates revoked at the CA. */
  readonly cutOff: (agentId: AgentId) => void
  readonly onRevoked?: ((hosts: number) => void) | undefined
}

/** A quarter of the shortest silence that a rule may have is 15 minutes: its hub hears somebody several times in that. */
const INTERVAL_MS = 5 * 60_000
/** How often the hosts of a rule are looked at: twelve times within its silence, but not all the time. */
const WALK_PART = 12
const WALK_MS_MAX = 3_600_000
const PAGE_HOSTS = 500
/** In one commit; others have their turn between two. */
const COMMIT_HOSTS = 50

export async function watchSilentHosts(
  dependencies: SilentHostsDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = dependencies
  const walks: Walks = new Map()
  while (!signal.aborted) {
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      await revokeSilentHosts(dependencies, walks, signal)
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'Search for silent hosts failed')
    }
  }
}

/** When the hosts of each rule were looked at. */
type Walks = Map<JoinRuleId, number>

/** One round: how well the hub hears, then the hosts of each rule whose turn it is. */
export async function revokeSilentHosts(
  dependencies: SilentHostsDependencies,
  walks: Walks,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = dependencies
  const rules = await store.reader.listWatchedJoinRules()
  if (rules.length === 0) return
  const heardAt = await findLastHeard(store.reader, clock.now())
  for (const rule of rules) {
    const { silentMs } = rule
    if (silentMs === null || signal.aborted) continue
    const now = clock.now()
    const watch = nextWatch(rule.watch, heardAt, { now, silentMs })
    if (watch === null) continue
    if (watch !== rule.watch) await keepWatch(store, rule.id, watch)
    const walkMs = Math.min(silentMs / WALK_PART, WALK_MS_MAX)
    const lastMs = walks.get(rule.id) ?? Number.NEGATIVE_INFINITY
    if (Math.abs(now.getTime() - lastMs) < walkMs) continue
    walks.set(rule.id, now.getTime())
    await walkHosts(dependencies, { rule, watch, silentMs }, signal)
  }
}

/** When any host at all last asked for its manifest, or a time that is recent enough. */
async function findLastHeard(reader: StoreReader, now: Date): Promise<Date | undefined> {
  let last: Date | undefined
  for await (const agents of agentSlices(reader)) {
    const polls = await reader.listLastPolls(agents.map(({ id }) => id))
    for (const at of polls.values()) if (last === undefined || at > last) last = at
    if (last !== undefined && now.getTime() - last.getTime() < INTERVAL_MS) return last
  }
  return last
}

function keepWatch(store: Store, id: JoinRuleId, watch: SilenceWatch): Promise<void> {
  return store.write(async (writer) => {
    const rule = await writer.findJoinRule(id)
    if (rule !== undefined) await writer.updateJoinRule({ ...rule, watch })
  })
}

interface Silence {
  readonly rule: JoinRule
  readonly watch: SilenceWatch
  readonly silentMs: number
}

async function walkHosts(
  dependencies: SilentHostsDependencies,
  silence: Silence,
  signal: AbortSignal,
): Promise<void> {
  const { store, log, cutOff } = dependencies
  let after: string | undefined
  while (!signal.aborted) {
    const page = await store.reader.pageJoinedHosts(silence.rule.id, { after, limit: PAGE_HOSTS })
    const hosts = page ?? []
    const silent = hosts.filter((host) => isGone(host, silence))
    for (let at = 0; at < silent.length; at += COMMIT_HOSTS) {
      const revoked = await revoke(dependencies, silence, silent.slice(at, at + COMMIT_HOSTS))
      dependencies.onRevoked?.(revoked.length)
      for (const { id, hostname } of revoked) {
        log.warn({ agent_id: id, hostname, join_rule: silence.rule.name }, 'Silent host revoked')
        cutOff(id)
      }
      if (signal.aborted) return
    }
    if (hosts.length < PAGE_HOSTS) return
    after = hosts.at(-1)?.tokenHash.slice(0, 16)
    await nextTurn()
  }
}

function isGone(host: JoinedHost, { watch, silentMs }: Silence): boolean {
  return (
    host.agentId !== null &&
    host.revokedAt === null &&
    isSilent(lastContactOf(host), watch, silentMs)
  )
}

function lastContactOf({ joinedAt, lastSeenAt, lastPollAt }: JoinedHost): Date {
  return latestOf([joinedAt, lastSeenAt, lastPollAt]) ?? joinedAt
}

interface RevokedHost {
  readonly id: AgentId
  readonly hostname: string
}

/** Each is looked at once more in the commit: it may have been heard, or enrolled again, since. */
async function revoke(
  { store, clock }: SilentHostsDependencies,
  silence: Silence,
  hosts: readonly JoinedHost[],
): Promise<readonly RevokedHost[]> {
  return store.write(async (writer) => {
    const now = clock.now()
    const revoked: RevokedHost[] = []
    const ids = hosts.flatMap(({ agentId }) => agentId ?? [])
    const polls = await writer.listLastPolls(ids)
    const agents = new Map((await writer.findAgents(ids)).map((agent) => [agent.id, agent]))
    for (const host of hosts) {
      const agent = host.agentId === null ? undefined : agents.get(host.agentId)
      if (agent?.enrolledWith !== host.tokenHash || agent.removedAt !== null) continue
      const { id, lastSeenAt, revokedAt } = agent
      const fresh = { ...host, lastSeenAt, revokedAt, lastPollAt: polls.get(id) ?? null }
      if (!isGone(fresh, silence)) continue
      await revokeOne(writer, { agent, lastContactAt: lastContactOf(fresh) }, silence, now)
      revoked.push({ id, hostname: agent.hostname })
    }
    return revoked
  })
}

async function revokeOne(
  writer: StoreWriter,
  { agent, lastContactAt }: { readonly agent: Agent; readonly lastContactAt: Date },
  { rule }: Silence,
  now: Date,
): Promise<void> {
  const { id: agentId } = agent
  const ended = await endOpenTokens(writer, agent.hostname, now)
  await writer.updateAgent({ ...agent, revokedAt: now })
  await writer.revokeCertificates(agentId, now)
  await recordHubAct(writer, now, HubEventType.agentRevoked, {
    actor: 'hub',
    agente_id: agentId,
    hostname: agent.hostname,
    tokens_ended: ended,
    reason: 'silent',
    join_rule_id: rule.id,
    join_rule: rule.name,
    last_contact_at: lastContactAt.toISOString(),
  })
  await writer.tellOthers({ revoked: agentId })
}
