import { setImmediate } from 'node:timers/promises'
import { HubEventType } from '../../../protocol/words.ts'
import { sentTypes } from '../../domain/urgent-entries.ts'
import type { Webhook } from '../../domain/webhook.ts'
import type { StoreReader } from '../../store/store.ts'

/** Beyond this many entries of one type nobody counts: the log may have millions. */
const COUNT_MAX = 1000

/** How many messages wait for an endpoint; the count of each type has a limit. */
export async function countBacklog(reader: StoreReader, webhook: Webhook): Promise<number> {
  const { cursorSeq } = webhook.progress
  const types = sentTypes(webhook)
  const count = (type: string): Promise<number> =>
    reader.webhooks.countEntriesOfType(type, cursorSeq, COUNT_MAX)
  if (types.length === 0) {
    const last = (await reader.findChainEnd())?.seq ?? 0
    return Math.max(0, last - cursorSeq - (await count(HubEventType.webhookDead)))
  }
  const counts = await Promise.all(types.map(count))
  // Others may have a turn between two endpoints.
  await setImmediate()
  return counts.reduce((sum, one) => sum + one, 0)
}
