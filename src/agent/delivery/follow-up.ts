// What follows an installation: its record, and its event. Both are derived from what is on disk, so that they happen
// after a crash just as they do without one.

import type { DeliveryId } from '../../protocol/identifiers.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import type { Outbox } from '../reporting/outbox.ts'
import type { AgentTargets } from '../targets/agent-targets.ts'
import { type AgentEvent, deliveryInstalled, deliveryRenewed } from '../wire.ts'
import { type InstalledPair, pairPaths } from './installed-pair.ts'
import type { ProcessedDelivery, ProcessedStore } from './processed-store.ts'

export interface FollowUpContext {
  readonly outDir: string
  readonly processed: ProcessedStore
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly targets: Pick<AgentTargets, 'applyNew' | 'tell'>
}

/** A renewed pair that the records do not know yet starts again at the first step. */
export async function adoptInstalledVersions(
  { processed }: FollowUpContext,
  pairs: ReadonlyMap<string, InstalledPair>,
): Promise<void> {
  for (const record of processed.list()) {
    const pair = pairs.get(record.name)
    if (pair !== undefined && isNewVersionOf(record, pair)) {
      await processed.put(afterRenewal(record, pair.leaf.serial))
    }
  }
}

/**
 * Brings every installed version that has no event yet to its targets and queues its event; the same one twice is one
 * event. What the targets report comes after it: while they are reported the delivery is known to be installed.
 */
export async function queueEvents(
  context: FollowUpContext,
  pairs: ReadonlyMap<string, InstalledPair>,
): Promise<void> {
  for (const record of context.processed.list()) {
    const pair = pairs.get(record.name)
    if (record.progress !== 'installed' || pair?.record.delivery_id !== record.deliveryId) continue
    const event = eventOf(context.outDir, record, pair)
    if (event === undefined) continue
    await context.targets.applyNew(record.name, pair.leaf.serial)
    await context.outbox.enqueue(event, pair.record.request_id)
    await context.processed.put({ ...record, progress: 'event_queued' })
  }
  await context.targets.tell()
}

function isNewVersionOf(record: ProcessedDelivery, pair: InstalledPair): boolean {
  return (
    pair.record.delivery_id === record.deliveryId &&
    pair.record.version === record.version &&
    pair.leaf.serial !== record.serial
  )
}

/** A hook that never learned of the installation is told of that, not of the renewal. */
function afterRenewal(record: ProcessedDelivery, serial: string): ProcessedDelivery {
  const hookKnowsIt = record.progress === 'done' || record.hookEvent === 'renewed'
  return {
    ...record,
    serial,
    progress: 'installed',
    hookEvent: hookKnowsIt ? 'renewed' : 'installed',
    reportedHookFailure: null,
  }
}

function eventOf(
  outDir: string,
  { deliveryId, name: text }: { readonly deliveryId: DeliveryId; readonly name: string },
  { leaf, record: { renewal } }: InstalledPair,
): AgentEvent | undefined {
  const name = parseArtefactName(text)
  if (name === undefined) return undefined
  if (renewal === null) return deliveryInstalled(deliveryId, name, pairPaths(outDir, name))
  return deliveryRenewed(deliveryId, name, {
    oldSerial: renewal.old_serial,
    newSerial: leaf.serial,
    trigger: renewal.trigger,
  })
}
