// Renewal of a delivered certificate, for as long as the hub knows its delivery.

import { attemptSpaced } from '../backoff.ts'
import { meaningOfRefusal } from '../failures.ts'
import type { HubBudget } from '../hub-budget.ts'
import type { HubRefusal } from '../hub-request.ts'
import type { Identity } from '../identity/identity.ts'
import { ATTEMPT_INTERVAL_MS, type DeliveryContext } from './delivery-context.ts'
import { adoptInstalledVersions, queueEvents } from './follow-up.ts'
import { type InstalledPair, readInstalledPair } from './installed-pair.ts'
import { obtainPair } from './obtain-pair.ts'
import type { DeliveryPlan } from './plan-deliveries.ts'

/** A delivered certificate near its end, or gone, is replaced by one with a new key. */
export async function renewDelivery(
  context: DeliveryContext,
  identity: Identity,
  renewal: DeliveryPlan['renewals'][number],
  pairs: ReadonlyMap<string, InstalledPair>,
  budget: HubBudget,
): Promise<void> {
  const { record } = renewal
  const { retries, clock, log, processed } = context
  const oldSerial = pairs.get(record.name)?.leaf.serial ?? record.serial
  const refusal = await attemptSpaced(
    retries,
    record.deliveryId,
    { clock, intervalMs: ATTEMPT_INTERVAL_MS },
    () => renewPair(context, identity, renewal, oldSerial),
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
      'Delivery cancelled: its files stay and are renewed no more',
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
