import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { WebhookId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import { nameWebhook, newWebhook } from '../../domain/webhook.ts'
import { isSent, secretFrom } from '../../domain/webhook-message.ts'
import { decideWebhookUrl } from '../../domain/webhook-url.ts'
import type { Store } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'
import { toAdminWebhook } from './webhook-views.ts'

/** Each has one request under way at most, so that these are all that there are at a time. */
const WEBHOOKS_MAX = 100
const KEY_BYTES = 32
const EVENT_TYPE = /^[a-z][a-z0-9_]{0,63}$/

/** It gets what is recorded from now on. The secret is in the answer and in the vault, nowhere else. */
export async function createWebhook(
  store: Store,
  clock: Clock,
  request: AdminRequest<'createWebhook'>,
  actor: Actor,
): Promise<AdminReplies['createWebhook']> {
  const verdict = decideWebhookUrl(request.url)
  if (!verdict.ok) {
    throw new UserError('url_invalid', `no webhook to that URL: ${verdict.reason}`, {
      hint: 'https://… of any host, or http://localhost:… of this one',
    })
  }
  const types = [...new Set(request.tipos)]
  for (const type of types) requireSentType(type)
  const secret = secretFrom(randomBytes(KEY_BYTES))
  return store.write(async (writer) => {
    if ((await writer.webhooks.list()).length >= WEBHOOKS_MAX) {
      throw new UserError('too_many_webhooks', `there are ${WEBHOOKS_MAX} webhooks already`, {
        hint: 'svc webhook remove takes one away',
      })
    }
    const now = clock.now()
    const id = randomUUID() as WebhookId
    const { href: url } = verdict.url
    await recordHubAct(writer, now, HubEventType.webhookCreated, {
      actor,
      ...nameWebhook({ id, url }),
      tipos: types,
    })
    const cursorSeq = (await writer.findChainEnd())?.seq ?? 0
    const created = newWebhook({ id, url, types, createdAt: now, cursorSeq })
    await writer.webhooks.insert(created, secret)
    // Nothing was recorded since.
    return { ...toAdminWebhook(created, { backlog: 0, dead: 0 }), secret }
  })
}

function requireSentType(type: string): void {
  if (!EVENT_TYPE.test(type)) {
    throw new UserError('tipo_invalid', `${type} is no type of event`, {
      hint: 'types are those of svc evento list, such as entrega_falhou',
    })
  }
  if (!isSent({ eventType: type })) {
    throw new UserError('tipo_invalid', `${type} is recorded, but not sent by webhook`)
  }
}
