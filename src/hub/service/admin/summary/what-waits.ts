// What does not go on by itself, or has yet to get through: entregas, webhooks, revocations, roots, rollouts. Every list has a bound.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseCertificatesPem } from '../../../../pki/certificates.ts'
import {
  type AdminFleetSummary,
  SUMMARY_COUNT_MAX,
  SUMMARY_GROUPS_MAX,
} from '../../../../protocol/admin/fleet-summary.ts'
import { HubEventType } from '../../../../protocol/words.ts'
import { isGood } from '../../../domain/access-token.ts'
import { hasAdopted } from '../../../domain/decide-root-set.ts'
import type { Rollout } from '../../../domain/rollout.ts'
import { nameWebhook, type Webhook } from '../../../domain/webhook.ts'
import type { StoreReader } from '../../../store/store.ts'
import { sumCounts } from '../../rollout/count-hosts.ts'
import { nameRollout } from '../../rollout/name-rollout.ts'
import type { WaitingReasons } from '../../waiting-reasons.ts'
import { countBacklog } from '../../webhooks/count-backlog.ts'

type Part<Name extends keyof AdminFleetSummary> = AdminFleetSummary[Name]

const ROLLOUTS_MAX = 20
/** To count the hosts of one takes 20 ms with 100,000. */
const ROLLOUTS_COUNTED_MAX = 5
const REVOCATIONS_MAX = 100
const REFUSALS_MAX = 100
const JOIN_RULES_MAX = 100
const TRUST_COUNTS_MAX = 100
/** So many entries are waiting in an ordinary burst, too. */
const BACKLOG_ENTRIES = 1000
const HOUR_MS = 3_600_000

export async function listFailures(
  reader: StoreReader,
  waiting: Pick<WaitingReasons, 'group'> | undefined,
): Promise<Part<'failures'>> {
  const groups = [
    ...(await reader.summary.groupFailures(SUMMARY_GROUPS_MAX)).map((group) => ({
      ...group,
      status: 'falhou' as const,
    })),
    ...(waiting?.group(SUMMARY_GROUPS_MAX) ?? []).map((group) => ({
      ...group,
      status: 'pendente' as const,
    })),
  ]
  const failures: Part<'failures'> = []
  for (const { status, reason, count, example } of groups) {
    const delivery = await reader.findDeliveryWithCargo(example)
    if (delivery === undefined) continue
    const { id, agentId, hostname, cargo } = delivery
    failures.push({
      status,
      reason,
      count,
      example: { entrega_id: id, agente_id: agentId, hostname, nome: cargo.name },
    })
  }
  return failures
}

export async function listRolloutsUnderWay(reader: StoreReader): Promise<Part<'rollouts'>> {
  const rollouts: Part<'rollouts'> = []
  for (const rollout of (await reader.rollouts.listOpen()).slice(0, ROLLOUTS_MAX)) {
    const { id, subject, state, wave, waves, reason } = rollout
    const { nome } = await nameRollout(reader, rollout)
    const hosts = rollouts.length < ROLLOUTS_COUNTED_MAX ? await countHosts(reader, rollout) : null
    const at = { wave: wave + 1, waves: waves.length }
    rollouts.push({ id, kind: subject.kind, nome, state, ...at, reason, hosts })
  }
  return rollouts
}

async function countHosts(
  reader: StoreReader,
  { id }: Rollout,
): Promise<Part<'rollouts'>[number]['hosts']> {
  // Agents may have a turn between two rollouts.
  await nextTurn()
  const { pending, unprobed, done, failed } = sumCounts(await reader.rollouts.countWaves(id))
  const waiting = pending + unprobed
  return { total: waiting + done + failed, done, pending: waiting, failed }
}

export async function describeAdoption(
  reader: StoreReader,
  agentes: number,
): Promise<Part<'raizes'>> {
  const set = await reader.findRootSet()
  if (set === undefined) return null
  const roots = parseCertificatesPem(set.pem)
  const said = await reader.summary.listTrustCounts(TRUST_COUNTS_MAX)
  const adopted = said.filter((trust) => hasAdopted(trust, roots))
  return {
    epoca: set.epoch,
    numero: set.number,
    adopted: adopted.reduce((sum, { count }) => sum + count, 0),
    agentes,
  }
}

export async function listLaggingWebhooks(
  reader: StoreReader,
  webhooks: readonly Webhook[],
): Promise<Part<'webhooks'>> {
  const lastSeq = (await reader.findChainEnd())?.seq ?? 0
  const lagging: { readonly webhook: Webhook; readonly dead: number }[] = []
  for (const webhook of webhooks) {
    const { attempts, cursorSeq } = webhook.progress
    const dead = await reader.webhooks.countDead(webhook.id)
    const isBehind = attempts > 0 || lastSeq - cursorSeq > BACKLOG_ENTRIES
    if (isBehind || dead > 0 || webhook.disabledAt !== null) lagging.push({ webhook, dead })
  }
  const first: Part<'webhooks'>['first'] = []
  for (const { webhook, dead } of lagging.slice(0, SUMMARY_GROUPS_MAX)) {
    const { id, disabledAt, progress } = webhook
    first.push({
      id,
      origin: nameWebhook(webhook).origin,
      disabled: disabledAt !== null,
      error: progress.attempts > 0 ? progress.lastError : null,
      attempts: progress.attempts,
      next_attempt_at: progress.nextAttemptAt?.toISOString() ?? null,
      waiting: disabledAt === null ? await countBacklog(reader, webhook) : 0,
      dead,
    })
  }
  return { total: lagging.length, first }
}

export async function describeRevocations(
  reader: StoreReader,
  now: Date,
): Promise<Part<'ca_revocations'>> {
  const page = { now, limit: REVOCATIONS_MAX, isRefusedIncluded: true }
  const revocations = (await reader.listCaRevocations(page)) ?? []
  const waiting = revocations.filter(({ refusedAt }) => refusedAt === null)
  const oldestMs = Math.min(...revocations.map(({ revokedAt }) => revokedAt.getTime()))
  return {
    waiting: waiting.length,
    refused: revocations.length - waiting.length,
    oldest_at: revocations.length === 0 ? null : new Date(oldestMs).toISOString(),
    reason: revocations.find(({ reason }) => reason !== null)?.reason ?? null,
  }
}

export async function countRefusals(reader: StoreReader, now: Date): Promise<number> {
  const first = await reader.findFirstSeqSince(new Date(now.getTime() - HOUR_MS))
  if (first === undefined) return 0
  const range = { afterSeq: first - 1, isNewestFirst: true, limit: REFUSALS_MAX }
  const source = { by: 'type', value: HubEventType.adminRefused } as const
  return (await reader.listEntrySeqs(source, range)).length
}

export async function countForMenu(
  reader: StoreReader,
  now: Date,
): Promise<
  Pick<Part<'counts'>, 'cargas' | 'politicas' | 'tokens' | 'join_rules' | 'admin_tokens'>
> {
  const policies = [...(await reader.listPolicies()), ...(await reader.listSelectorPolicies())]
  const accessTokens = await reader.listAccessTokens()
  return {
    cargas: await reader.summary.countCargoes(),
    politicas: policies.length,
    tokens: await reader.summary.countOpenTokens(now, SUMMARY_COUNT_MAX),
    join_rules: (await reader.listJoinRulesInForce(now, JOIN_RULES_MAX)).length,
    admin_tokens: accessTokens.filter((token) => isGood(token, now)).length,
  }
}
