import type { Clock } from '../../../platform/clock.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import { nameWebhook } from '../../domain/webhook.ts'
import type { Store } from '../../store/store.ts'
import { findWebhook } from './find-webhook.ts'
import { recordHubAct } from '../hub-acts.ts'

/** With its secret, and with what it gave up. */
export async function removeWebhook(
  store: Store,
  clock: Clock,
  wanted: string,
  actor: Actor,
): Promise<void> {
  await store.write(async (writer) => {
    const webhook = await findWebhook(writer, wanted)
    await writer.webhooks.remove(webhook.id)
    await recordHubAct(writer, clock.now(), HubEventType.webhookRemoved, {
      actor,
      ...nameWebhook(webhook),
    })
  })
}
