// Installation: a pair or a file in `out/`, its record, its event; or the reason why nothing was installed.

import { describeError, errnoCode } from '../../platform/errors.ts'
import { describeRefusal, meaningOfRefusal } from '../hub/failures.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { HubRefusal } from '../hub/request.ts'
import type { Identity } from '../identity/identity.ts'
import { ForeignFileError, restoreLinks } from '../files/versioned-files.ts'
import { deliveryFailed, type ManifestEntry } from '../hub/wire.ts'
import { ATTEMPT_INTERVAL_MS, type DeliveryContext } from './delivery-context.ts'
import { artefactKey } from './delivery-kind.ts'
import { UnusableFileError } from './file-kind.ts'
import { applyTargetsAndQueueEvents } from './follow-up.ts'
import type { Installation } from './plan-deliveries.ts'

/** Errors of the file system that no retry mends. */
const NOT_WRITABLE: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'ELOOP',
])

/** Puts one listed delivery in place and queues its event; what cannot succeed becomes its failure. */
export async function installDelivery(
  context: DeliveryContext,
  identity: Identity,
  installation: Installation,
  budget: HubBudget,
): Promise<void> {
  const { entry, kind, name, mode, isInPlace } = installation
  const { deliveryId, cargoId, version } = entry
  if (!isInPlace) {
    const refusal = await obtainOrFail(context, identity, installation)
    if (refusal === 'failed') return
    if (refusal !== undefined) {
      await settleRefusal(context, entry, refusal, budget)
      return
    }
    budget.noteAnswer()
  }
  const artefact = await kind.read(context.outDir, name)
  if (artefact === undefined) return
  const mark = kind.markOf(artefact)
  // A switch sees to its links; one of an earlier process may have lost them since.
  if (isInPlace) await restoreLinks(kind.layout(context.outDir, name))
  await context.processed.put({
    deliveryId,
    cargoId,
    kind: kind.name,
    name,
    version,
    mark,
    ...(mode === undefined ? {} : { mode }),
    progress: 'installed',
    hookEvent: 'installed',
    reportedHookFailure: null,
    cancelled: false,
  })
  context.retries.clear(deliveryId)
  context.log.info(
    {
      delivery_id: deliveryId,
      artefact: name,
      kind: kind.name,
      version,
      serial: artefact.leaf?.serial,
    },
    'Delivery installed',
  )
  await applyTargetsAndQueueEvents(
    context,
    new Map([[artefactKey({ kind: kind.name, name }), artefact]]),
  )
}

/** A file that may not be written, or cannot be opened, fails the delivery; every other error is for a later try. */
async function obtainOrFail(
  context: DeliveryContext,
  identity: Identity,
  { entry, kind, name, mode }: Installation,
): Promise<HubRefusal | 'failed' | undefined> {
  const { deliveryId, cargoId, version } = entry
  try {
    const { sans } = entry
    const request = { deliveryId, cargoId, name, version, mode, sans, renewal: null }
    return await kind.obtain(context, identity, request)
  } catch (error) {
    const isFinal = error instanceof ForeignFileError || error instanceof UnusableFileError
    if (!isFinal && !NOT_WRITABLE.has(errnoCode(error))) throw error
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

export async function failDelivery(
  { outbox, log, retries, clock }: DeliveryContext,
  { deliveryId }: ManifestEntry,
  reason: string,
): Promise<void> {
  // Were the report refused, the hub would list the delivery for ever: not at every poll, then.
  if (!retries.isDue(deliveryId, clock.now())) return
  retries.holdOff(deliveryId, clock.now(), ATTEMPT_INTERVAL_MS)
  log.error({ delivery_id: deliveryId, reason }, 'Delivery failed')
  await outbox.enqueue(deliveryFailed(deliveryId, reason))
}
