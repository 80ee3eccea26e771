// Puts back the links in `out/` that a user removed: their targets are still there.

import { describeError } from '../../platform/errors.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import type { HubBudget } from '../hub/budget.ts'
import { restoreLinks } from '../files/versioned-files.ts'
import type { DeliveryContext } from './delivery-context.ts'
import { artefactKey } from './delivery-kind.ts'
import { DELIVERY_KINDS, type InstalledArtefacts } from './delivery-kinds.ts'

export async function restoreMissingLinks(
  { outDir, processed, retries, clock, log }: DeliveryContext,
  installed: InstalledArtefacts,
  budget: Pick<HubBudget, 'noteError'>,
): Promise<void> {
  for (const record of processed.list()) {
    const { deliveryId, kind, cancelled } = record
    const name = parseArtefactName(record.name)
    const isInPlace = installed.get(artefactKey(record))?.record.delivery_id === deliveryId
    if (name === undefined || cancelled || !isInPlace) continue
    if (!retries.isDue(linksRetryName(deliveryId), clock.now())) continue
    try {
      const restored = await restoreLinks(DELIVERY_KINDS[kind].layout(outDir, name))
      for (const path of restored) log.warn({ delivery_id: deliveryId, path }, 'Link put back')
      retries.clear(linksRetryName(deliveryId))
    } catch (error) {
      log.warn({ delivery_id: deliveryId, error: describeError(error) }, 'Links not put back')
      retries.recordFailure(linksRetryName(deliveryId), clock.now())
      budget.noteError(error)
    }
  }
}

export function linksRetryName(deliveryId: string): string {
  return `links of ${deliveryId}`
}
