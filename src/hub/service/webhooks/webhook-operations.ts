import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import { nameWebhook, type Webhook } from '../../domain/webhook.ts'
import type { Page, Store } from '../../store/store.ts'
import { createWebhook } from './create-webhook.ts'
import { findWebhook } from './find-webhook.ts'
import { recordHubAct } from '../hub-acts.ts'
import { pageOf, readPage } from '../read-page.ts'
import { removeWebhook } from './remove-webhook.ts'
import { replayWebhook } from './replay-webhook.ts'
import type { WebhookControl } from './webhook-control.ts'
import { listDead, viewWebhook } from './webhook-views.ts'

interface WebhookDependencies {
  readonly store: Store
  readonly clock: Clock
  /** Undefined without a running hub. */
  readonly webhooks?: WebhookControl
}

type WebhookOperationName =
  | 'createWebhook'
  | 'listWebhooks'
  | 'showWebhook'
  | 'testWebhook'
  | 'replayWebhook'
  | 'removeWebhook'

export function createWebhookOperations(
  dependencies: WebhookDependencies,
  actor: Actor,
): Pick<AdminOperations, WebhookOperationName> {
  const { store, clock, webhooks: control } = dependencies
  const { reader } = store
  const view = (webhook: Webhook) => viewWebhook(reader, webhook)
  const followed = async (webhook: Webhook) => {
    await control?.changed()
    return view(webhook)
  }
  return {
    createWebhook: async (request) => {
      const created = await createWebhook(store, clock, request, actor)
      await control?.changed()
      return created
    },
    listWebhooks: async (request) => {
      const read = async (page: Page) => {
        const found = pageOf(await reader.webhooks.list(), page)
        return found && Promise.all(found.map(view))
      }
      const { rows, next } = await readPage(request, read, (webhook) => webhook)
      return { webhooks: rows, next }
    },
    showWebhook: async ({ webhook: wanted }) => {
      const webhook = await findWebhook(reader, wanted)
      return { ...(await view(webhook)), dead_messages: await listDead(reader, webhook.id) }
    },
    testWebhook: async ({ webhook: wanted }) => {
      const webhook = await findWebhook(reader, wanted)
      if (control === undefined) {
        throw new UserError('hub_not_running', 'no hub runs, and only a hub sends', {
          hint: 'start svc-server first',
        })
      }
      // Before it is sent: nothing leaves the hub for somebody whom the log does not name.
      await store.write((writer) =>
        recordHubAct(writer, clock.now(), HubEventType.webhookTested, {
          actor,
          ...nameWebhook(webhook),
        }),
      )
      const { messageId, ok, status, error, durationMs } = await control.test(webhook)
      return {
        id: webhook.id,
        message_id: messageId,
        ok,
        status,
        erro: error,
        duration_ms: durationMs,
      }
    },
    replayWebhook: async (request) => followed(await replayWebhook(store, clock, request, actor)),
    removeWebhook: async ({ webhook: wanted }) => {
      const removed = await view(await findWebhook(reader, wanted))
      await removeWebhook(store, clock, wanted, actor)
      await control?.changed()
      return removed
    },
  }
}
