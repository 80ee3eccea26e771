// One round of work on the deliveries: carry out the plan, report, then run the hooks. Each delivery fails alone.

import type { Clock } from '../../platform/clock.ts'
import { describeError, errnoCode } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { createCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import { EventType } from '../../protocol/words.ts'
import type { RetrySchedule } from '../backoff.ts'
import { describeRefusal, meaningOfRefusal } from '../failures.ts'
import type { HubBudget } from '../hub-budget.ts'
import type { HubClient } from '../hub-client.ts'
import type { HubRefusal } from '../hub-request.ts'
import type { Identity } from '../identity/identity.ts'
import { flushOutbox } from '../reporting/flush-outbox.ts'
import type { Outbox } from '../reporting/outbox.ts'
import { ForeignFileError, restoreLinks } from '../versioned-files.ts'
import { deliveryFailed, type ManifestEntry } from '../wire.ts'
import { adoptInstalledVersions, queueEvents } from './follow-up.ts'
import type { HookRunner } from './hook-runner.ts'
import { type InstalledPair, pairLayout, readInstalledPair } from './installed-pair.ts'
import { obtainPair, type PairRequest } from './obtain-pair.ts'
import {
  type DeliveryPlan,
  type Installation,
  planDeliveries,
  sameFileReason,
} from './plan-deliveries.ts'
import type { ProcessedDelivery, ProcessedStore } from './processed-store.ts'
import { runDueHooks } from './run-due-hooks.ts'

export interface DeliveryContext {
  readonly outDir: string
  readonly caPath: string
  readonly renewalThresholdMs: number
  readonly clock: Clock
  readonly hub: Pick<HubClient, 'issueCertificate' | 'sendEvent'>
  readonly outbox: Outbox
  readonly processed: ProcessedStore
  readonly hookRunner: HookRunner
  readonly retries: RetrySchedule
  readonly log: Logger
  readonly hookLog: Logger
  /** Deliveries of unknown kinds that were warned about. */
  readonly warnedAbout: Set<string>
}

const RENEWAL_ATTEMPT_INTERVAL_MS = 60_000
/** Errors of the file system that no retry mends. */
const NOT_WRITABLE: readonly (string | undefined)[] = [
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'ELOOP',
]

/** `entries` is empty when the manifest could not be had: renewals and hooks go on without it. */
export async function workOnDeliveries(
  context: DeliveryContext,
  identity: Identity,
  entries: readonly ManifestEntry[],
  budget: HubBudget,
): Promise<void> {
  const pairs = await readPairs(context, entries)
  await adoptInstalledVersions(context, pairs)
  await queueEvents(context, pairs)
  const plan = planDeliveries({
    entries,
    records: context.processed.list(),
    pairs,
    failuresWaiting: failuresWaiting(context.outbox),
    now: context.clock.now(),
    renewalThresholdMs: context.renewalThresholdMs,
  })
  warnAboutUnknownKinds(context, plan)
  await context.processed.remove(plan.obsolete)
  for (const { entry, reason } of plan.failures) await failDelivery(context, entry, reason)
  for (const installation of plan.installations) {
    await attempt(context, budget, installation.entry.deliveryId, () =>
      install(context, identity, installation, budget),
    )
  }
  for (const renewal of plan.renewals) {
    await attempt(context, budget, renewal.record.deliveryId, () =>
      renew(context, identity, renewal, pairs, budget),
    )
  }
  await flushOutbox(context, budget)
  await runDueHooks(context, identity, budget)
}

async function readPairs(
  { outDir, processed }: DeliveryContext,
  entries: readonly ManifestEntry[],
): Promise<Map<string, InstalledPair>> {
  const pairs = new Map<string, InstalledPair>()
  for (const text of new Set([...processed.list(), ...entries].map(({ name }) => name))) {
    const name = parseArtefactName(text)
    // What cannot be read is treated as missing; writing it anew will say what is wrong.
    const pair = name && (await readInstalledPair(outDir, name).catch(() => undefined))
    if (pair !== undefined) pairs.set(text, pair)
  }
  return pairs
}

function failuresWaiting(outbox: Outbox): Set<string> {
  const failures = outbox.listWaiting().filter(({ type }) => type === EventType.deliveryFailed)
  return new Set(failures.flatMap(({ deliveryId }) => deliveryId ?? []))
}

function warnAboutUnknownKinds({ warnedAbout, log }: DeliveryContext, plan: DeliveryPlan): void {
  for (const { deliveryId, kind, name } of plan.unknownKinds) {
    if (warnedAbout.has(deliveryId)) continue
    warnedAbout.add(deliveryId)
    log.warn(
      { delivery_id: deliveryId, kind, artefact: name },
      'Delivery of an unknown kind skipped',
    )
  }
}

/** One delivery's work; what it throws concerns it alone, and is tried again later. */
async function attempt(
  { retries, clock, log }: DeliveryContext,
  budget: HubBudget,
  deliveryId: string,
  work: () => Promise<void>,
): Promise<void> {
  if (!budget.isOpen || !retries.isDue(deliveryId, clock.now())) return
  try {
    await work()
  } catch (error) {
    log.warn({ delivery_id: deliveryId, error: describeError(error) }, 'Delivery postponed')
    retries.recordFailure(deliveryId, clock.now())
    budget.noteError(error)
  }
}

async function install(
  context: DeliveryContext,
  identity: Identity,
  { entry, name, isInPlace, rival }: Installation,
  budget: HubBudget,
): Promise<void> {
  const { deliveryId, cargoId, version } = entry
  if (rival !== undefined && (await isStillLive(context, identity, rival, budget))) {
    await failDelivery(context, entry, sameFileReason(name))
    return
  }
  if (!isInPlace) {
    const request: PairRequest = { deliveryId, cargoId, name, version, renewal: null }
    const refusal = await obtainOrFail(context, identity, request, entry)
    if (refusal === 'failed') return
    if (refusal !== undefined) {
      await settleRefusal(context, entry, refusal, budget)
      return
    }
    budget.noteAnswer()
  }
  const pair = await readInstalledPair(context.outDir, name)
  if (pair === undefined) return
  await restoreLinks(pairLayout(context.outDir, name))
  await context.processed.put({
    deliveryId,
    cargoId,
    name,
    version,
    serial: pair.leaf.serial,
    progress: 'installed',
    hookEvent: 'installed',
    reportedHookFailure: null,
    cancelled: false,
  })
  context.retries.clear(deliveryId)
  context.log.info(
    { delivery_id: deliveryId, artefact: name, serial: pair.leaf.serial },
    'Delivery installed',
  )
  await queueEvents(context, new Map([[name, pair]]))
}

/** A file that may not be written fails the delivery; every other error is for a later try. */
async function obtainOrFail(
  context: DeliveryContext,
  identity: Identity,
  request: PairRequest,
  entry: ManifestEntry,
): Promise<HubRefusal | 'failed' | undefined> {
  try {
    const outcome = await obtainPair(context, identity, request)
    return outcome.ok ? undefined : outcome
  } catch (error) {
    if (!(error instanceof ForeignFileError) && !NOT_WRITABLE.includes(errnoCode(error)))
      throw error
    await failDelivery(context, entry, describeError(error))
    return 'failed'
  }
}

async function settleRefusal(
  context: DeliveryContext,
  entry: ManifestEntry,
  refusal: HubRefusal,
  budget: HubBudget,
): Promise<void> {
  const { log, retries, clock } = context
  switch (meaningOfRefusal(refusal)) {
    case 'permanent':
      budget.noteAnswer()
      await failDelivery(context, entry, describeRefusal(refusal))
      break
    case 'cancelled':
      budget.noteAnswer()
      log.info({ delivery_id: entry.deliveryId }, 'Delivery cancelled before it was installed')
      retries.recordFailure(entry.deliveryId, clock.now())
      break
    case 'transient':
    case 'identity':
      log.warn({ delivery_id: entry.deliveryId, code: refusal.code }, 'Delivery postponed')
      retries.recordFailure(entry.deliveryId, clock.now(), refusal.retryAfterMs)
      budget.noteRefusal(refusal)
      break
  }
}

async function failDelivery(
  { outbox, log, retries, clock }: DeliveryContext,
  { deliveryId }: ManifestEntry,
  reason: string,
): Promise<void> {
  // Were the report refused, the hub would list the delivery for ever: not at every poll, then.
  if (!retries.isDue(deliveryId, clock.now())) return
  retries.holdOff(deliveryId, clock.now(), RENEWAL_ATTEMPT_INTERVAL_MS)
  log.error({ delivery_id: deliveryId, reason }, 'Delivery failed')
  await outbox.enqueue(deliveryFailed(deliveryId, reason))
}

/** Asks for what a live delivery may have, a certificate, and drops it; the hub knows a cancelled one no more. */
async function isStillLive(
  { hub, processed }: DeliveryContext,
  identity: Identity,
  rival: ProcessedDelivery,
  budget: HubBudget,
): Promise<boolean> {
  const csrPem = await createCsrPem(identity.hostname, await generateEcP256Key())
  const outcome = await hub.issueCertificate(csrPem, rival.deliveryId)
  if (outcome.ok) return true
  if (meaningOfRefusal(outcome) === 'cancelled') {
    await processed.remove([rival.deliveryId])
    return false
  }
  budget.noteRefusal(outcome)
  throw new Error(`whether ${rival.deliveryId} is live is not known: ${describeRefusal(outcome)}`)
}

async function renew(
  context: DeliveryContext,
  identity: Identity,
  renewal: DeliveryPlan['renewals'][number],
  pairs: ReadonlyMap<string, InstalledPair>,
  budget: HubBudget,
): Promise<void> {
  const { record } = renewal
  const { retries, clock, log, processed } = context
  retries.holdOff(record.deliveryId, clock.now(), RENEWAL_ATTEMPT_INTERVAL_MS)
  const oldSerial = pairs.get(record.name)?.leaf.serial ?? record.serial
  const refusal = await renewPair(context, identity, renewal, oldSerial)
  if (refusal === undefined) {
    retries.recordSuccess(record.deliveryId)
    budget.noteAnswer()
    return
  }
  if (meaningOfRefusal(refusal) === 'cancelled') {
    budget.noteAnswer()
    log.warn(
      { delivery_id: record.deliveryId, artefact: record.name },
      'Delivery cancelled: its files stay and are renewed no more',
    )
    await processed.put({ ...record, cancelled: true })
    return
  }
  log.warn({ delivery_id: record.deliveryId, code: refusal.code }, 'Renewal postponed')
  retries.recordFailure(
    record.deliveryId,
    clock.now(),
    Math.max(RENEWAL_ATTEMPT_INTERVAL_MS, refusal.retryAfterMs ?? 0),
  )
  budget.noteRefusal(refusal)
}

async function renewPair(
  context: DeliveryContext,
  identity: Identity,
  { record, name, trigger }: DeliveryPlan['renewals'][number],
  oldSerial: string,
): Promise<HubRefusal | undefined> {
  const { deliveryId, cargoId, version } = record
  const outcome = await obtainPair(context, identity, {
    deliveryId,
    cargoId,
    name,
    version,
    renewal: { old_serial: oldSerial, trigger },
  })
  if (!outcome.ok) return outcome
  context.log.info(
    { delivery_id: deliveryId, artefact: name, old_serial: oldSerial, new_serial: outcome.serial },
    'Delivered certificate renewed',
  )
  const pair = await readInstalledPair(context.outDir, name)
  if (pair === undefined) return undefined
  const pairs = new Map([[name as string, pair]])
  await adoptInstalledVersions(context, pairs)
  await queueEvents(context, pairs)
  return undefined
}
