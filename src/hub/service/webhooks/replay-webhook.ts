import { invariant } from '../../../platform/errors.ts'
import { AdminRefusal, type Write } from '../admin-act.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { nameWebhook, type Webhook } from '../../domain/webhook.ts'
import type { StoreReader } from '../../store/store.ts'
import { findWebhook } from './find-webhook.ts'
import { parseTime } from '../read-page.ts'
import { viewWebhook, type WebhookContext } from './webhook-views.ts'

/** What was sent already is sent again from there on, or what was given up once more; without either it goes on at once. */
export const replayWebhook: Write<'replayWebhook', WebhookContext> = async (
  writer,
  request,
  { store },
) => {
  const since = request.since === undefined ? undefined : parseTime(request.since)
  if ([request.seq, since, request.dead === true ? true : undefined].filter(isGiven).length > 1) {
    throw new AdminRefusal('usage', 'give only one of seq, since and dead')
  }
  const webhook = await findWebhook(writer, request.webhook)
  const cursorSeq = await chooseCursor(writer, webhook, request.seq, since)
  if (request.dead === true) await writer.webhooks.markDeadToReplay(webhook.id)
  // The lane comes to the messages after the cursor again anyway.
  await writer.webhooks.removeDeadAfter(webhook.id, cursorSeq)
  await writer.webhooks.restart(webhook.id, cursorSeq)
  const replayed = await writer.webhooks.find(webhook.id)
  invariant(replayed !== undefined, 'the endpoint is there while it is written')
  const payload = { ...nameWebhook(webhook), after_seq: cursorSeq, dead: request.dead === true }
  return {
    acts: [{ type: HubEventType.webhookReplayed, payload }],
    reply: () => viewWebhook(store.reader, replayed),
    news: { areWebhooksChanged: true },
  }
}

async function chooseCursor(
  reader: StoreReader,
  { progress: { cursorSeq } }: Webhook,
  seq: number | undefined,
  since: Date | undefined,
): Promise<number> {
  if (seq === undefined && since === undefined) return cursorSeq
  const first = seq ?? (await findFirstSeq(reader, since))
  if (first !== undefined && first <= cursorSeq + 1) return first - 1
  throw new AdminRefusal('replay_ahead', 'the hub has sent nothing from there on yet', {
    seq: String(cursorSeq),
  })
}

async function findFirstSeq(
  reader: StoreReader,
  since: Date | undefined,
): Promise<number | undefined> {
  return since === undefined ? undefined : reader.findFirstSeqSince(since)
}

function isGiven(value: unknown): boolean {
  return value !== undefined
}
