// What an operator does with webhooks, besides making one and sending again.

import { AdminRefusal, type Course, type Read, type Write } from '../admin-act.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { nameWebhook } from '../../domain/webhook.ts'
import type { Page } from '../../store/store.ts'
import { pageOf, readPage } from '../read-page.ts'
import { findWebhook } from './find-webhook.ts'
import { listDead, viewWebhook, type WebhookContext } from './webhook-views.ts'

export const listWebhooks: Read<'listWebhooks'> = async (reader, request) => {
  const read = async (page: Page) => {
    const found = pageOf(await reader.webhooks.list(), page)
    return found && Promise.all(found.map((webhook) => viewWebhook(reader, webhook)))
  }
  const { rows, next } = await readPage(request, read, (webhook) => webhook)
  return { webhooks: rows, next }
}

export const showWebhook: Read<'showWebhook'> = async (reader, { webhook: wanted }) => {
  const webhook = await findWebhook(reader, wanted)
  const dead = await listDead(reader, webhook.id)
  return { ...(await viewWebhook(reader, webhook)), dead_messages: dead }
}

/** Recorded before it is sent: the log names the actor before the hub sends anything. */
export const testWebhook: Write<'testWebhook', WebhookContext> = async (
  writer,
  { webhook: wanted },
  { webhooks: control },
) => {
  const webhook = await findWebhook(writer, wanted)
  if (control === undefined) {
    throw new AdminRefusal('hub_not_running', 'no hub runs, and only a hub sends webhooks')
  }
  return {
    acts: [{ type: HubEventType.webhookTested, payload: nameWebhook(webhook) }],
    reply: async () => {
      const { messageId, ok, status, error, durationMs } = await control.test(webhook)
      const result = { ok, status, erro: error, duration_ms: durationMs }
      return { id: webhook.id, message_id: messageId, ...result }
    },
  }
}

/** With its secret, and with what it gave up. */
export const removeWebhook: Course<'removeWebhook', WebhookContext> = {
  run: async (turn, { webhook: wanted }, { store: { reader } }) => {
    const removed = await viewWebhook(reader, await findWebhook(reader, wanted))
    return turn.commit(async (writer) => {
      const webhook = await findWebhook(writer, wanted)
      await writer.webhooks.remove(webhook.id)
      return {
        acts: [{ type: HubEventType.webhookRemoved, payload: nameWebhook(webhook) }],
        reply: removed,
        news: { areWebhooksChanged: true },
      }
    })
  },
}
