import { toLabelRecord, type Labels } from '../../protocol/labels.ts'
import { EventType } from '../../protocol/words.ts'
import type { Outbox } from './outbox.ts'
import { agentStarted } from './wire.ts'

/** While the same waits for a hub that is away, a restart adds none. */
export async function queueStart(
  outbox: Pick<Outbox, 'enqueue' | 'listWaiting'>,
  hostname: string,
  labels: Labels,
): Promise<void> {
  const event = agentStarted({ hostname, labels: toLabelRecord(labels) })
  const waiting = outbox.listWaiting().findLast(({ type }) => type === EventType.agentStarted)
  if (JSON.stringify(waiting?.payload) === JSON.stringify(event.payload)) return
  await outbox.enqueue(event)
}
