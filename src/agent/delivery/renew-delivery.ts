// Renewal of a delivered certificate, and a file that is gone fetched again, for as long as the hub knows the delivery.

import { attemptSpaced } from '../hub/backoff.ts'
import { meaningOfRefusal } from '../hub/failures.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { HubRefusal } from '../hub/request.ts'
import type { Identity } from '../identity/identity.ts'
import { ATTEMPT_INTERVAL_MS, type DeliveryContext } from './delivery-context.ts'
import { artefactKey } from './delivery-kind.ts'
import { DELIVERY_KINDS, type InstalledArtefacts } from './delivery-kinds.ts'
import { adoptInstalledVersions, applyTargetsAndQueueEvents } from './follow-up.ts'
import type { DeliveryPlan } from './plan-deliveries.ts'

/** A delivered certificate near its end, or gone, is replaced by one with a new key; a file that is gone by the same. */
export async function renewDelivery(
  context: DeliveryContext,
  identity: Identity,
  renewal: DeliveryPlan['renewals'][number],
  installed: InstalledArtefacts,
  budget: HubBudget,
): Promise<void> {
  const { record } = renewal
  const { retries, clock, log, processed } = context
  const artefact = installed.get(artefactKey(record))
  const oldMark =
    artefact === undefined ? record.mark : DELIVERY_KINDS[record.kind].markOf(artefact)
  const refusal = await attemptSpaced(
    retries,
    record.deliveryId,
    { clock, intervalMs: ATTEMPT_INTERVAL_MS },
    () => obtainAnew(context, identity, renewal, oldMark),
  )
  if (refusal === undefined) {
    retries.recordSuccess(record.deliveryId)
    budget.noteAnswer()
    return
  }
  if (meaningOfRefusal(refusal) === 'cancelled') {
    budget.noteAnswer()
    log.warn(
      { delivery_id: record.deliveryId, artefact: record.name },
      'Delivery cancelled: its files stay, and the agent no longer renews them',
    )
    await processed.update(record.deliveryId, (current) => ({ ...current, cancelled: true }))
    return
  }
  log.warn({ delivery_id: record.deliveryId, code: refusal.code }, 'Renewal postponed')
  retries.recordFailure(
    record.deliveryId,
    clock.now(),
    Math.max(ATTEMPT_INTERVAL_MS, refusal.retryAfterMs ?? 0),
  )
  budget.noteRefusal(refusal)
}

async function obtainAnew(
  context: DeliveryContext,
  identity: Identity,
  { record, name, trigger }: DeliveryPlan['renewals'][number],
  oldMark: string,
): Promise<HubRefusal | undefined> {
  const { deliveryId, cargoId, version, mode } = record
  const kind = DELIVERY_KINDS[record.kind]
  const renewal = { old_serial: oldMark, trigger }
  const refusal = await kind.obtain(context, identity, {
    deliveryId,
    cargoId,
    name,
    version,
    mode,
    renewal,
  })
  if (refusal !== undefined) return refusal
  const artefact = await kind.read(context.outDir, name)
  if (artefact === undefined) return undefined
  const fields = { delivery_id: deliveryId, artefact: name }
  if (kind.isFile) context.log.warn(fields, 'Delivered file put back')
  else {
    const serials = { old_serial: oldMark, new_serial: kind.markOf(artefact) }
    context.log.info({ ...fields, ...serials }, 'Delivered certificate renewed')
  }
  const installed = new Map([[artefactKey(record), artefact]])
  await adoptInstalledVersions(context, installed)
  await applyTargetsAndQueueEvents(context, installed)
  return undefined
}
