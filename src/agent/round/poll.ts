// One round: identity, events, manifest, deliveries, hooks. Every step stands alone; what fails is noted and the rest
// goes on. The loop is elsewhere.

import { describeError } from '../../platform/errors.ts'
import { removeIfPresent } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { RetrySchedule } from '../hub/backoff.ts'
import { HookLane } from '../delivery/hook-lane.ts'
import type { HookRunner } from '../delivery/hook-runner.ts'
import { openProcessedStore, type ProcessedStore } from '../delivery/processed-store.ts'
import type { DeliveryContext } from '../delivery/delivery-context.ts'
import { linksRetryName } from '../delivery/restore-missing-links.ts'
import { workOnDeliveries } from '../delivery/work-on-deliveries.ts'
import { BUNDLE_RETRIES, followBundle } from '../identity/bundle-upkeep.ts'
import { HubBudget } from '../hub/budget.ts'
import {
  keepIdentity,
  recoverIfHubSeesExpired,
  renewIfStillDue,
  UPKEEP_RETRIES,
} from '../identity/identity-upkeep.ts'
import { keepReceipt, RECEIPT_RETRIES, showReceipt } from '../identity/receipt-upkeep.ts'
import { announceBundleAgain } from '../identity/announce-bundle.ts'
import { announceRecipient, RECIPIENT_RETRIES } from '../identity/announce-recipient.ts'
import { KnownFiles } from '../files/known-files.ts'
import { flushOutbox } from '../hub/outbox.ts'
import { decideManifestReport, type ManifestReport } from './manifest-report.ts'
import {
  adoptRestoredIdentity,
  type AgentSession,
  caPathOf,
  takeUpIdentity,
  keepVerdict,
} from '../identity/session.ts'
import { type AgentTargets, createAgentTargets } from '../targets/agent-targets.ts'
import { keyTypeOf, loadTargets } from '../targets/load-targets.ts'
import { currentApplier } from '../targets/target-applier.ts'
import type { RoundResult } from '../reporting/status.ts'
import { LOG_RETRIES, type LogWatchContext } from '../witness/log-watch.ts'
import { type Manifest, manifestPulled } from '../hub/wire.ts'
import {
  type AnnouncementContext,
  type AnnouncementMemory,
  followAnnouncement,
  newAnnouncementMemory,
} from '../update/follow-announcement.ts'

export interface PollState {
  readonly session: AgentSession
  readonly processed: ProcessedStore
  readonly retries: RetrySchedule
  readonly deliveries: DeliveryContext
  readonly targets: AgentTargets
  readonly log: Logger
  manifestReport: ManifestReport | undefined
  isSkewed: boolean
  /** The set of roots, and why it was not adopted, that was reported last. */
  reportedRefusal: string | undefined
  rootsAlarm: string | undefined
  readonly announcement: AnnouncementMemory
}

export interface PollResult extends RoundResult {
  /** Whether the hub gave a manifest. */
  readonly hasManifest: boolean
  readonly retryAfterMs: number
  /** The earliest instant at which something that failed may be tried again. */
  readonly nextRetryMs: number | undefined
}

const CLOCK_SKEW_WARNING_MS = 30_000

/** Throws a UserError when the records of deliveries are damaged. */
export async function openPollState(
  session: AgentSession,
  hookRunner: HookRunner,
): Promise<PollState> {
  const { config, paths, clock, hub, hubTime, newCertificates, outbox, logging } = session
  const processed = await openProcessedStore(paths)
  const applier = currentApplier(config, paths)
  const retries = new RetrySchedule(session.random)
  const targets = createAgentTargets(
    // The agent reads what it wrote itself.
    { config, paths, applier, owner: applier, clock, log: logging.forModule('agent.targets') },
    { processed, outbox },
  )
  return {
    session,
    processed,
    retries,
    log: logging.forModule('agent.poll'),
    manifestReport: undefined,
    isSkewed: false,
    reportedRefusal: undefined,
    rootsAlarm: undefined,
    announcement: newAnnouncementMemory(),
    targets,
    deliveries: {
      outDir: paths.outDir,
      ageKeyFile: paths.ageKeyFile,
      renewalThresholdMs: config.renewalThresholdMs,
      clock,
      hub,
      hubTime,
      newCertificates,
      outbox,
      processed,
      known: new KnownFiles(clock),
      hooks: new HookLane({
        outDir: paths.outDir,
        caPath: caPathOf(paths),
        clock,
        hubTime,
        random: session.random,
        processed,
        outbox,
        hookRunner,
        hookLog: logging.forModule('agent.hook'),
      }),
      targets,
      keyTypeOf: async (name) =>
        keyTypeOf((await loadTargets(config.targetsDir, applier)).targets, name),
      retries,
      log: logging.forModule('agent.delivery'),
      warnedAbout: new Set(),
    },
  }
}

/** Waits for the hooks that it starts, unless they run beside. */
export async function pollOnce(
  state: PollState,
  { hooks }: { readonly hooks: 'awaited' | 'beside' } = { hooks: 'awaited' },
): Promise<PollResult> {
  const { session, log, retries, deliveries } = state
  const budget = new HubBudget()
  const startedAt = session.clock.now()
  const identity = await guard(budget, log, 'Identity', async () => {
    await adoptRestoredIdentity(session)
    return takeUpIdentity(session)
  })
  let manifest: Manifest | undefined
  if (identity !== undefined) {
    await guard(budget, log, 'Renewal', () => keepIdentity(state, identity, budget))
    await guard(budget, log, 'Outbox', () => flushOutbox(session, budget))
    manifest = await guard(budget, log, 'Manifest', () => pullManifest(state, budget))
    if (manifest === undefined) {
      const isRecovered = await guard(budget, log, 'Recovery', () =>
        recoverIfHubSeesExpired(state, identity, budget),
      )
      // Once at most: the next recovery may not be tried for a minute.
      if (isRecovered === true) return pollOnce(state, { hooks })
      const isTakenBack = await guard(budget, log, 'Receipt', () => showReceipt(state, budget))
      if (isTakenBack === true) return pollOnce(state, { hooks })
    } else {
      await guard(budget, log, 'Renewal', () => renewIfStillDue(state, identity, budget))
      await guard(budget, log, 'Receipt', () => keepReceipt(state, budget))
    }
    const offered = manifest?.bundleNumber
    const trusting = await guard(budget, log, 'Roots', () =>
      followBundle(state, identity, offered, budget),
    )
    await guard(budget, log, 'Deliveries', () =>
      workOnDeliveries(deliveries, trusting ?? identity, manifest?.entries ?? [], budget),
    )
    if (hooks === 'awaited') {
      for (const problem of await deliveries.hooks.settled()) budget.noteProblem(problem)
    }
    if (manifest !== undefined) {
      const { announced } = manifest
      await guard(budget, log, 'Update', () =>
        followAnnouncement(announcementContext(state), state.announcement, announced),
      )
    }
    await guard(budget, log, 'Outbox', () => flushOutbox(session, budget))
    await guard(budget, log, 'Log', () => session.logWatch.check(witnessContext(state), budget))
    // Last, so that it holds up nothing.
    await guard(budget, log, 'Recipient', () =>
      announceRecipient({ ...deliveries, hub: session.hub, log }, budget),
    )
  }
  await keepVerdict(session)
  warnAboutSkew(state)
  if (manifest !== undefined) forgetRetries(state, manifest)
  return {
    finishedAt: session.clock.now(),
    problems: budget.problems,
    hasManifest: manifest !== undefined,
    outcome: outcomeOf(manifest, budget),
    retryAfterMs: budget.retryAfterMs,
    nextRetryMs: budget.isOpen ? retries.nextDueMs(startedAt) : undefined,
  }
}

function outcomeOf(manifest: Manifest | undefined, budget: HubBudget): RoundResult['outcome'] {
  if (manifest !== undefined) return 'completed'
  if (budget.hasServerError) return 'server_error'
  return budget.isUnreachable ? 'network' : 'other'
}

async function guard<Value>(
  budget: HubBudget,
  log: Logger,
  step: string,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    log.warn({ step, error: describeError(error) }, 'Step failed')
    budget.noteError(error)
    return undefined
  }
}

async function pullManifest(state: PollState, budget: HubBudget): Promise<Manifest | undefined> {
  const { session, log } = state
  if (!budget.isOpen) return undefined
  const outcome = await session.hub.fetchManifest()
  if (!outcome.ok) {
    log.warn({ status: outcome.status, code: outcome.code }, 'Manifest refused')
    budget.noteRefusal(outcome)
    return undefined
  }
  budget.noteAnswer()
  const manifest = outcome.value
  log.debug({ count: manifest.entries.length }, 'Manifest pulled')
  if (manifest.ignoredCount > 0) {
    log.warn({ count: manifest.ignoredCount }, 'Unreadable manifest entries ignored')
  }
  // A report that cannot be written down now is due again at the next poll; the deliveries do not wait for it.
  await guard(budget, log, 'Manifest report', () => reportManifest(state, manifest))
  return manifest
}

async function reportManifest(state: PollState, { entries }: Manifest): Promise<void> {
  const { outbox, clock } = state.session
  const report = decideManifestReport(state.manifestReport, entries.length, clock.now())
  if (report === undefined) return
  await outbox.enqueue(manifestPulled(report.count))
  state.manifestReport = report
}

function announcementContext({ session }: PollState): AnnouncementContext {
  const { config, paths, clock, logging, outbox, version } = session
  return {
    paths,
    clock,
    elapsedMs: () => performance.now(),
    outbox,
    log: logging.forModule('agent.update'),
    ownVersion: version,
    isPermitted: config.updateUrl !== undefined,
    binary: process.execPath,
  }
}

function witnessContext({ session, retries, processed }: PollState): LogWatchContext {
  const { hub, outbox, clock, logging } = session
  const onEpoch = async (): Promise<void> => {
    await processed.noteRestore()
    await announceBundleAgain(session.paths.announcedBundleFile)
    await removeIfPresent(session.paths.announcedUpdateFile)
    retries.clear(RECIPIENT_RETRIES)
  }
  return { hub, outbox, retries, clock, log: logging.forModule('agent.log'), onEpoch }
}

/** Once per episode. */
function warnAboutSkew(state: PollState): void {
  const { skewMs } = state.session.hubTime
  if (skewMs === undefined) return
  const isSkewed = Math.abs(skewMs) > CLOCK_SKEW_WARNING_MS
  if (isSkewed && !state.isSkewed) {
    // Ours is ahead when this is positive.
    state.log.warn({ skew_seconds: Math.round(-skewMs / 1000) }, 'Clock differs from the hub’s')
  }
  state.isSkewed = isSkewed
}

/** What is neither listed nor recorded any more is not tried again. */
function forgetRetries({ retries, processed }: PollState, { entries }: Manifest): void {
  const listed = entries.map(({ deliveryId }) => deliveryId)
  const wanted = new Set<string>([
    ...UPKEEP_RETRIES,
    ...RECEIPT_RETRIES,
    RECIPIENT_RETRIES,
    BUNDLE_RETRIES,
    LOG_RETRIES,
    ...listed,
  ])
  for (const record of processed.list()) {
    if (record.cancelled) continue
    wanted.add(record.deliveryId)
    wanted.add(linksRetryName(record.deliveryId))
  }
  retries.keepOnly((name) => wanted.has(name))
}
