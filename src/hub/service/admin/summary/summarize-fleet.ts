// What the first screen of a console shows, in one reply. What it costs is shared by all who look. docs/protocol.md OVW.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { readVersion } from '../../../../platform/version.ts'
import type { AdminFleetSummary } from '../../../../protocol/admin/fleet-summary.ts'
import {
  describeEnds,
  type EndCount,
  type EndHorizon,
  endsUntilMs,
  type FleetEnds,
  QUARTER_MS,
} from '../../../domain/fleet-ends.ts'
import { type HubSample, SAMPLE_INTERVAL_MS } from '../../../domain/hub-samples.ts'
import type { LateRule, StoreReader } from '../../../store/store.ts'
import type { Read } from '../../admin-act.ts'
import { findFreezeInForce } from '../../rollout/find-rollout.ts'
import type { AdminContext } from '../admin-context.ts'
import { describeChange } from '../show-status.ts'
import { describeSurvivalOfAll, describeSurvivalOnTime } from './survival-within.ts'
import { listUrgentHosts } from './urgent-hosts.ts'
import {
  countForMenu,
  countRefusals,
  describeAdoption,
  describeRevocations,
  listFailures,
  listLaggingWebhooks,
  listRolloutsUnderWay,
} from './what-waits.ts'

export type SummaryContext = Pick<
  AdminContext,
  | 'clock'
  | 'renewalThresholdMs'
  | 'changes'
  | 'health'
  | 'hubNames'
  | 'live'
  | 'notifier'
  | 'polls'
  | 'sightings'
  | 'waiting'
  | 'shared'
>

/** How much of the time ahead is counted at once: as much as takes less than a piece, on whatever machine. */
const STEP_MS = { first: 3_600_000, least: QUARTER_MS, most: 12 * 3_600_000 } as const
const PIECE_MS = 0.5
const SAMPLE_MINUTES = { hour: 60, day: 1440 } as const

export const summarizeFleet: Read<'summarizeFleet', SummaryContext> = async (
  reader,
  { horizon = '48h', samples },
  context,
) => {
  const { clock, shared, renewalThresholdMs: thresholdMs } = context
  const fleet = await shared.ask('fleet', (now) =>
    describeFleet(reader, { now, thresholdMs }, context),
  )
  const ends = await shared.ask(`ends ${horizon}`, (now) =>
    countEnds(reader, { now, thresholdMs }, horizon),
  )
  const asOfMs = Math.min(fleet.at.getTime(), ends.at.getTime())
  return {
    version: readVersion(),
    time: clock.now().toISOString(),
    as_of: new Date(asOfMs).toISOString(),
    ...fleet.answer,
    certificados: ends.answer,
    samples: samples === undefined ? null : describeSamples(context, SAMPLE_MINUTES[samples]),
  }
}

async function countEnds(
  reader: StoreReader,
  rule: LateRule,
  horizon: EndHorizon,
): Promise<AdminFleetSummary['certificados']> {
  const at = { nowMs: rule.now.getTime(), thresholdMs: rule.thresholdMs }
  const counts = await listEndCounts(reader, rule, endsUntilMs(horizon, at))
  const ends = describeEnds(counts, horizon, at)
  const { certificates } = await inTurn(() => reader.summariseFleet(rule))
  const { identity, delivery } = certificates
  const total = [identity, delivery].reduce(
    (sum, { valid, late, expired }) => sum + valid + late + expired,
    0,
  )
  return viewEnds(ends, total)
}

/** Agents come between one part and the next. Where no two lives are alike, the rows of a quarter of an hour may be as many as may be. */
async function listEndCounts(
  reader: StoreReader,
  rule: LateRule,
  untilMs: number,
): Promise<EndCount[]> {
  const counts: EndCount[] = []
  let after: Date | undefined
  let stepMs: number = STEP_MS.first
  for (let endMs = rule.now.getTime(); ; endMs += stepMs) {
    const until = new Date(Math.min(endMs, untilMs))
    await nextTurn()
    const startMs = performance.now()
    counts.push(...(await reader.summary.countEnds(rule, { after, until })))
    if (endMs >= untilMs) return counts
    const isLong = performance.now() - startMs > PIECE_MS
    stepMs = isLong ? Math.max(STEP_MS.least, stepMs / 2) : Math.min(STEP_MS.most, stepMs * 2)
    after = until
  }
}

function viewEnds(
  { bucketMs, startMs, buckets, totals }: FleetEnds,
  total: number,
): AdminFleetSummary['certificados'] {
  const { expired, late, renewing } = totals
  const shown = buckets.reduce((sum, one) => sum + one.late + one.renewing + one.fresh, 0)
  return {
    bucket_seconds: bucketMs / 1000,
    from: new Date(startMs).toISOString(),
    buckets: buckets.map(({ late: atrasado, ...bucket }) => ({ ...bucket, atrasado })),
    expired,
    atrasado: late,
    renewing,
    // What was renewed between two looks may have been counted twice.
    fresh: Math.max(0, total - expired - late - renewing),
    later: Math.max(0, total - expired - shown),
  }
}

type Gathered = Omit<AdminFleetSummary, 'version' | 'time' | 'as_of' | 'certificados' | 'samples'>

async function describeFleet(
  reader: StoreReader,
  rule: LateRule,
  context: SummaryContext,
): Promise<Gathered> {
  const { now } = rule
  const { changes, live, waiting } = context
  const { agents, deliveries, reverted } = await inTurn(() => reader.summariseFleet(rule))
  const ended = await inTurn(() => reader.summary.countAgentsEnding(now))
  const urgent = await inTurn(() => listUrgentHosts(reader, rule, context))
  const webhooks = await inTurn(() => reader.webhooks.list())
  const inUse = agents.registered + agents.late
  const freeze = await inTurn(() => findFreezeInForce(reader, now))
  return {
    hub: await describeHub(context),
    agentes: {
      registered: agents.registered,
      atrasado: agents.late,
      revoked: agents.revoked,
      connected: live?.countStreams() ?? null,
    },
    atrasados: { total: agents.late - ended, first: urgent.late },
    expirados: { total: ended, first: urgent.expired },
    survival: await inTurn(() => describeSurvivalOfAll(reader, rule)),
    survival_on_time: await inTurn(() => describeSurvivalOnTime(reader, rule)),
    entregas: { ...deliveries, revertida: reverted },
    failures: await inTurn(() => listFailures(reader, waiting)),
    mudanca: changes.underWay === undefined ? null : describeChange(changes.underWay),
    rollouts: await inTurn(() => listRolloutsUnderWay(reader)),
    freeze: freeze === undefined ? null : { until: freeze.until.toISOString(), why: freeze.why },
    raizes: await inTurn(() => describeAdoption(reader, inUse)),
    webhooks: await inTurn(() => listLaggingWebhooks(reader, webhooks)),
    ca_revocations: await inTurn(() => describeRevocations(reader, now)),
    admin_refused: await inTurn(() => countRefusals(reader, now)),
    counts: {
      agentes: inUse + agents.revoked,
      entregas_falhou: deliveries.falhou,
      webhooks: webhooks.length,
      ...(await inTurn(() => countForMenu(reader, now))),
    },
  }
}

/** Agents come between one look into the store and the next. */
async function inTurn<Answer>(look: () => Promise<Answer>): Promise<Answer> {
  await nextTurn()
  return look()
}

/** Null without a running hub. */
async function describeHub({
  health,
  hubNames,
  live,
}: SummaryContext): Promise<AdminFleetSummary['hub']> {
  if (health === undefined || live === undefined) return null
  const how = await health()
  const failure = live.lastCaFailure()
  return {
    name: hubNames[0] ?? '',
    ...how,
    certificate_not_after: live.certificateEnd()?.toISOString() ?? null,
    ca: {
      ready: how.subsystems.every(({ name, ready }) => name !== 'ca' || ready),
      last_failure: failure === undefined ? null : { ...failure, at: failure.at.toISOString() },
    },
  }
}

function describeSamples({ live }: SummaryContext, minutes: number): AdminFleetSummary['samples'] {
  if (live === undefined) return null
  const { since, until, samples } = live.readSamples(minutes)
  const list = (name: keyof HubSample): (number | null)[] => samples.map((sample) => sample[name])
  return {
    since: since.toISOString(),
    until: until.toISOString(),
    interval_seconds: SAMPLE_INTERVAL_MS / 1000,
    requests_per_second: list('requestsPerSecond'),
    request_p99_ms: list('requestP99Ms'),
    ca_median_ms: list('caMedianMs'),
    ca_p99_ms: list('caP99Ms'),
    connected: list('connected'),
    busy_percent: list('busyPercent'),
  }
}
