// One round of work on the deliveries: carry out the plan, report, then start the hooks. Each delivery fails alone.

import { describeError } from '../../platform/errors.ts'
import { type DeliveryId, parseArtefactName } from '../../protocol/identifiers.ts'
import { EventType } from '../../protocol/words.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { Identity } from '../identity/identity.ts'
import { flushOutbox, type Outbox } from '../hub/outbox.ts'
import type { ManifestEntry } from '../hub/wire.ts'
import type { DeliveryContext } from './delivery-context.ts'
import { artefactKey, type InstalledArtefact } from './delivery-kind.ts'
import { DELIVERY_KINDS, findKind, type InstalledArtefacts } from './delivery-kinds.ts'
import { adoptInstalledVersions, applyTargetsAndQueueEvents } from './follow-up.ts'
import { failDelivery, installDelivery } from './install-delivery.ts'
import { type DeliveryPlan, planDeliveries } from './plan-deliveries.ts'
import { renewDelivery } from './renew-delivery.ts'
import { restoreMissingLinks } from './restore-missing-links.ts'

/** No file is begun later than that in a round. docs/protocol.md SLD. */
const FILES_MS_MAX = 60_000

/** `entries` is empty when the manifest could not be had: renewals and hooks go on without it. */
export async function workOnDeliveries(
  context: DeliveryContext,
  identity: Identity,
  entries: readonly ManifestEntry[],
  budget: HubBudget,
): Promise<void> {
  const installed = await readAllInstalled(context, entries)
  await restoreMissingLinks(context, installed, budget)
  await adoptInstalledVersions(context, installed)
  for (const problem of await context.targets.lookAfter()) budget.noteProblem(problem)
  await applyTargetsAndQueueEvents(context, installed)
  const plan = planDeliveries({
    entries,
    records: context.processed.list(),
    installed,
    failuresWaiting: failuresWaiting(context.outbox),
    now: context.hubTime.now(),
    newCertificates: context.newCertificates,
    renewalThresholdMs: context.renewalThresholdMs,
  })
  warnAboutUnknownKinds(context, plan)
  await context.processed.remove(plan.obsolete)
  for (const { entry, reason } of plan.failures) await failDelivery(context, entry, reason)
  const work = listWork(context, identity, plan, installed, budget)
  // A hub that is slow with files delays no certificate, and no event about a certificate.
  for (const { deliveryId, run } of work.filter(({ isFile }) => !isFile)) {
    await attempt(context, budget, deliveryId, run)
  }
  await flushOutbox(context, budget)
  context.hooks.start(identity.hostname)
  await workOnFiles(
    context,
    budget,
    work.filter(({ isFile }) => isFile),
  )
  await flushOutbox(context, budget)
  context.hooks.startMore()
}

interface Work {
  readonly deliveryId: DeliveryId
  readonly isFile: boolean
  readonly run: () => Promise<void>
}

function listWork(
  context: DeliveryContext,
  identity: Identity,
  { installations, renewals }: DeliveryPlan,
  installed: InstalledArtefacts,
  budget: HubBudget,
): readonly Work[] {
  return [
    ...installations.map((installation) => ({
      deliveryId: installation.entry.deliveryId,
      isFile: installation.kind.isFile,
      run: () => installDelivery(context, identity, installation, budget),
    })),
    ...renewals.map((renewal) => ({
      deliveryId: renewal.record.deliveryId,
      isFile: DELIVERY_KINDS[renewal.record.kind].isFile,
      run: () => renewDelivery(context, identity, renewal, installed, budget),
    })),
  ]
}

/** What is not begun in time is left to the next round, which comes at once and looks at everything else first. */
async function workOnFiles(
  context: DeliveryContext,
  budget: HubBudget,
  work: readonly Work[],
): Promise<void> {
  const { clock, retries } = context
  const startMs = clock.now().getTime()
  for (const { deliveryId, run } of work) {
    const now = clock.now()
    const elapsedMs = now.getTime() - startMs
    if (elapsedMs < FILES_MS_MAX) await attempt(context, budget, deliveryId, run)
    else if (retries.isDue(deliveryId, now)) retries.postpone(deliveryId, now, 0)
  }
}

async function readAllInstalled(
  { outDir, processed, known }: DeliveryContext,
  entries: readonly ManifestEntry[],
): Promise<InstalledArtefacts> {
  const wanted = new Map([...processed.list(), ...entries].map((one) => [artefactKey(one), one]))
  const installed = new Map<string, InstalledArtefact>()
  for (const [key, { kind: kindText, name: nameText }] of wanted) {
    const kind = findKind(kindText)
    const name = parseArtefactName(nameText)
    if (kind === undefined || name === undefined) continue
    // The agent treats an unreadable file as missing; the attempt to write it again says what is wrong.
    const artefact = await kind.read(outDir, name, known).catch(() => undefined)
    if (artefact !== undefined) installed.set(key, artefact)
  }
  known.keepOnly((key) => installed.has(key))
  return installed
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
