// Links in `out/` that somebody removed are put back: what they led to is still there.

import { describeError } from '../../platform/errors.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import type { HubBudget } from '../hub-budget.ts'
import { restoreLinks } from '../versioned-files.ts'
import type { DeliveryContext } from './delivery-context.ts'
import { type InstalledPair, pairLayout } from './installed-pair.ts'

export async function restoreMissingLinks(
  { outDir, processed, retries, clock, log }: DeliveryContext,
  pairs: ReadonlyMap<string, InstalledPair>,
  budget: Pick<HubBudget, 'noteError'>,
): Promise<void> {
  for (const { deliveryId, name: text, cancelled } of processed.list()) {
    const name = parseArtefactName(text)
    const isInPlace = pairs.get(text)?.record.delivery_id === deliveryId
    if (name === undefined || cancelled || !isInPlace) continue
    if (!retries.isDue(linksRetryName(deliveryId), clock.now())) continue
    try {
      const restored = await restoreLinks(pairLayout(outDir, name))
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
