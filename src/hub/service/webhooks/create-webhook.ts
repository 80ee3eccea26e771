import { randomBytes, randomUUID } from 'node:crypto'
import { AdminRefusal, type Write } from '../admin-act.ts'
import { isEventType, type WebhookId } from '../../../protocol/identifiers.ts'
import { formatSelector } from '../../../protocol/selector.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { nameWebhook, newWebhook } from '../../domain/webhook.ts'
import { isSent, secretFrom } from '../../domain/webhook-message.ts'
import { decideWebhookUrl } from '../../domain/webhook-url.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { toAdminWebhook, type WebhookContext } from './webhook-views.ts'

/** Each has one request under way at most, so that these are all that there are at a time. */
const WEBHOOKS_MAX = 100
const KEY_BYTES = 32

/** It gets what is recorded from now on. The secret is in the answer and in the vault, nowhere else. */
export const createWebhook: Write<'createWebhook', WebhookContext> = async (
  writer,
  request,
  { clock },
) => {
  const verdict = decideWebhookUrl(request.url)
  if (!verdict.ok) {
    throw new AdminRefusal('url_invalid', `a webhook cannot use this URL: ${verdict.reason}`)
  }
  const types = [...new Set(request.tipos)]
  for (const type of types) requireSentType(type)
  const where = request.where === undefined ? null : parseDecidingWhere(request.where)
  if ((await writer.webhooks.list()).length >= WEBHOOKS_MAX) {
    throw new AdminRefusal('too_many_webhooks', `there are ${WEBHOOKS_MAX} webhooks already`)
  }
  const secret = secretFrom(randomBytes(KEY_BYTES))
  const id = randomUUID() as WebhookId
  const { href: url } = verdict.url
  // The next entry is the one that says so; what comes after that is sent.
  const cursorSeq = ((await writer.findChainEnd())?.seq ?? 0) + 1
  const created = newWebhook({ id, url, types, where, createdAt: clock.now(), cursorSeq })
  await writer.webhooks.insert(created, secret)
  const payload = {
    ...nameWebhook({ id, url }),
    tipos: types,
    ...(where && { where: formatSelector(where) }),
  }
  return {
    acts: [{ type: HubEventType.webhookCreated, payload }],
    // Nothing was recorded since.
    reply: { ...toAdminWebhook(created, { backlog: 0, dead: 0 }), secret },
    news: { areWebhooksChanged: true },
  }
}

function requireSentType(type: string): void {
  if (!isEventType(type)) {
    throw new AdminRefusal('tipo_invalid', `${type} is not a type of event`, { tipo: type })
  }
  if (!isSent({ eventType: type })) {
    throw new AdminRefusal(
      'tipo_invalid',
      `${type} is a type that the hub records, but sends to no webhook`,
    )
  }
}
