// One round: identity, events, manifest, deliveries, hooks. Every step stands alone; what fails is noted and the rest
// goes on. The loop is elsewhere.

import { describeError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import { isRenewalDue } from './certificate-lifetime.ts'
import { RetrySchedule } from './backoff.ts'
import type { HookRunner } from './delivery/hook-runner.ts'
import { openProcessedStore, type ProcessedStore } from './delivery/processed-store.ts'
import type { DeliveryContext } from './delivery/delivery-context.ts'
import { workOnDeliveries } from './delivery/work-on-deliveries.ts'
import { HubBudget } from './hub-budget.ts'
import type { Identity } from './identity/identity.ts'
import { HubRefusedError } from './identity/renew-identity.ts'
import { flushOutbox } from './reporting/flush-outbox.ts'
import { decideManifestReport, type ManifestReport } from './reporting/manifest-report.ts'
import { type AgentSession, caPathOf, rotateIdentity, takeUpIdentity } from './session.ts'
import { type Manifest, manifestPulled } from './wire.ts'

export interface PollState {
  readonly session: AgentSession
  readonly processed: ProcessedStore
  readonly retries: RetrySchedule
  readonly deliveries: DeliveryContext
  readonly log: Logger
  manifestReport: ManifestReport | undefined
  isSkewed: boolean
}

export interface PollResult {
  readonly finishedAt: Date
  /** Everything that went wrong; empty when all is well. */
  readonly problems: readonly string[]
  /** Whether the hub gave a manifest. */
  readonly hasManifest: boolean
  readonly retryAfterMs: number
  /** The earliest instant at which something that failed may be tried again. */
  readonly nextRetryMs: number | undefined
}

const IDENTITY = 'identity'
const RENEWAL_ATTEMPT_INTERVAL_MS = 60_000
const CLOCK_SKEW_WARNING_MS = 30_000

/** Throws a UserError when processed.json is damaged. */
export async function openPollState(
  session: AgentSession,
  hookRunner: HookRunner,
): Promise<PollState> {
  const { config, paths, clock, hub, outbox, logging } = session
  const processed = await openProcessedStore(paths.processedFile)
  const retries = new RetrySchedule(session.random)
  return {
    session,
    processed,
    retries,
    log: logging.forModule('agent.poll'),
    manifestReport: undefined,
    isSkewed: false,
    deliveries: {
      outDir: paths.outDir,
      caPath: caPathOf(paths),
      renewalThresholdMs: config.renewalThresholdMs,
      clock,
      hub,
      outbox,
      processed,
      hookRunner,
      retries,
      log: logging.forModule('agent.delivery'),
      hookLog: logging.forModule('agent.hook'),
      warnedAbout: new Set(),
    },
  }
}

export async function pollOnce(state: PollState): Promise<PollResult> {
  const { session, log, retries } = state
  const budget = new HubBudget()
  const identity = await guard(budget, log, 'Identity', () => takeUpIdentity(session))
  let manifest: Manifest | undefined
  if (identity !== undefined) {
    await guard(budget, log, 'Renewal', () => renewIfDue(state, identity, budget))
    await guard(budget, log, 'Outbox', () => flushOutbox(session, budget))
    manifest = await guard(budget, log, 'Manifest', () => pullManifest(state, budget))
    await guard(budget, log, 'Deliveries', () =>
      workOnDeliveries(state.deliveries, identity, manifest?.entries ?? [], budget),
    )
    await guard(budget, log, 'Outbox', () => flushOutbox(session, budget))
  }
  if (manifest !== undefined) forgetRetries(state, manifest)
  return {
    finishedAt: session.clock.now(),
    problems: budget.problems,
    hasManifest: manifest !== undefined,
    retryAfterMs: budget.retryAfterMs,
    nextRetryMs: budget.isOpen ? retries.nextDueMs() : undefined,
  }
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

async function renewIfDue(state: PollState, { leaf }: Identity, budget: HubBudget): Promise<void> {
  const { session, retries, log } = state
  const now = session.clock.now()
  if (!isRenewalDue(leaf, now, session.config.renewalThresholdMs)) return
  if (leaf.notAfter <= now) {
    log.error({ serial: leaf.serial, not_after: leaf.notAfter.toISOString() }, 'Identity expired')
  }
  if (!retries.isDue(IDENTITY, now)) return
  retries.holdOff(IDENTITY, now, RENEWAL_ATTEMPT_INTERVAL_MS)
  try {
    await rotateIdentity(session, 'auto_threshold')
    retries.recordSuccess(IDENTITY)
  } catch (error) {
    retries.recordFailure(IDENTITY, now, RENEWAL_ATTEMPT_INTERVAL_MS)
    if (!(error instanceof HubRefusedError)) throw error
    log.warn({ error: error.message }, 'Renewal refused')
    budget.noteRefusal(error.refusal)
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
    log.warn({ count: manifest.ignoredCount }, 'Manifest entries that cannot be read')
  }
  warnAboutSkew(state, outcome.hubTime)
  const now = session.clock.now()
  const report = decideManifestReport(state.manifestReport, manifest.entries.length, now)
  if (report !== undefined) {
    await session.outbox.enqueue(manifestPulled(report.count))
    state.manifestReport = report
  }
  return manifest
}

function warnAboutSkew(state: PollState, hubTime: Date | undefined): void {
  if (hubTime === undefined) return
  const skewMs = state.session.clock.now().getTime() - hubTime.getTime()
  const isSkewed = Math.abs(skewMs) > CLOCK_SKEW_WARNING_MS
  if (isSkewed && !state.isSkewed) {
    state.log.warn({ skew_seconds: Math.round(skewMs / 1000) }, 'Clock differs from the hub’s')
  }
  state.isSkewed = isSkewed
}

/** What is neither listed nor recorded any more is not tried again. */
function forgetRetries({ retries, processed }: PollState, { entries }: Manifest): void {
  const wanted = new Set<string>([IDENTITY, ...entries.map(({ deliveryId }) => deliveryId)])
  for (const record of processed.list()) {
    if (record.cancelled) continue
    wanted.add(record.deliveryId)
    if (record.progress !== 'done') wanted.add(`hook ${record.deliveryId}`)
  }
  retries.keepOnly((name) => wanted.has(name))
}
