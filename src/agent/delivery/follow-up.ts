// What follows an installation: its record, and its event. Both are derived from what is on disk, so that they happen
// after a crash just as they do without one.

import { parseArtefactName } from '../../protocol/identifiers.ts'
import { EventType } from '../../protocol/words.ts'
import type { Outbox } from '../hub/outbox.ts'
import type { AgentEvent } from '../hub/wire.ts'
import { artefactKey, type InstalledArtefact } from './delivery-kind.ts'
import { DELIVERY_KINDS, type InstalledArtefacts } from './delivery-kinds.ts'
import type { ProcessedDelivery, ProcessedStore } from './processed-store.ts'

/** Where installed versions go on this host. */
export interface InstalledTargets {
  /** All targets: after a crash, after an edit, after others changed a file. Resolves with what is wrong. */
  lookAfter(): Promise<readonly string[]>
  /** Those of one delivery, whose files were just switched. */
  applyNew(name: string, mark: string): Promise<void>
  /** The files of `targets.d` that are to report of the delivery, root's among them; what cannot be read is left out. */
  reportersOf(artefact: 'pair' | 'file', name: string): Promise<readonly string[]>
  /** Puts the reports into the outbox. */
  tell(): Promise<void>
}

export interface FollowUpContext {
  readonly outDir: string
  readonly processed: ProcessedStore
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly targets: Pick<InstalledTargets, 'applyNew' | 'reportersOf' | 'tell'>
}

/** A version that the records do not know yet, of a renewed pair most likely, starts again at the first step. */
export async function adoptInstalledVersions(
  { processed }: FollowUpContext,
  installed: InstalledArtefacts,
): Promise<void> {
  for (const record of processed.list()) {
    const artefact = installed.get(artefactKey(record))
    if (artefact !== undefined && isNewVersionOf(record, artefact)) {
      await processed.put(afterRenewal(record, DELIVERY_KINDS[record.kind].markOf(artefact)))
    }
  }
}

/**
 * Brings every installed version that has no event yet to its targets and queues its event; the same one twice is one
 * event. What the targets report comes after it: while they are reported the delivery is known to be installed.
 */
export async function applyTargetsAndQueueEvents(
  context: FollowUpContext,
  installed: InstalledArtefacts,
): Promise<void> {
  for (const record of context.processed.list()) {
    const { deliveryId, progress } = record
    const artefact = installed.get(artefactKey(record))
    const name = parseArtefactName(record.name)
    if (progress !== 'installed' || name === undefined) continue
    if (artefact?.record.delivery_id !== deliveryId) continue
    const kind = DELIVERY_KINDS[record.kind]
    await context.targets.applyNew(name, kind.markOf(artefact))
    const event = kind.eventOf({ outDir: context.outDir, name }, deliveryId, artefact)
    const alvos = await context.targets.reportersOf(kind.isFile ? 'file' : 'pair', name)
    await context.outbox.enqueue(announcing(event, alvos), artefact.record.request_id)
    await context.processed.put({ ...record, progress: 'event_queued' })
  }
  await context.targets.tell()
}

/** The hub waits for these before it calls the delivery done. docs/protocol.md RLO-8. */
function announcing(event: AgentEvent, alvos: readonly string[]): AgentEvent {
  const isNew =
    event.type === EventType.deliveryInstalled || event.type === EventType.deliveryDelivered
  return isNew && alvos.length > 0 ? { ...event, payload: { ...event.payload, alvos } } : event
}

function isNewVersionOf(record: ProcessedDelivery, artefact: InstalledArtefact): boolean {
  return (
    artefact.record.delivery_id === record.deliveryId &&
    artefact.record.version === record.version &&
    DELIVERY_KINDS[record.kind].markOf(artefact) !== record.mark
  )
}

/** A hook that never learned of the installation is told of that, not of the renewal. */
function afterRenewal(record: ProcessedDelivery, mark: string): ProcessedDelivery {
  const hookKnowsIt = record.progress === 'done' || record.hookEvent === 'renewed'
  return {
    ...record,
    mark,
    progress: 'installed',
    hookEvent: hookKnowsIt ? 'renewed' : 'installed',
    reportedHookFailure: null,
  }
}
