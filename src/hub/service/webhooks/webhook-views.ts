import type { Clock } from '../../../platform/clock.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AdminWebhook } from '../../../protocol/admin/webhooks.ts'
import type { WebhookId } from '../../../protocol/identifiers.ts'
import { formatSelector } from '../../../protocol/selector.ts'
import { WebhookState } from '../../../protocol/words.ts'
import type { Webhook } from '../../domain/webhook.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { timeOrNull } from '../admin-views.ts'
import { countBacklog } from './count-backlog.ts'
import type { WebhookControl } from './webhook-control.ts'

/** What the use cases of webhooks work with. */
export interface WebhookContext {
  readonly store: Store
  readonly clock: Clock
  /** Undefined without a running hub. */
  readonly webhooks?: WebhookControl
}

export async function viewWebhook(reader: StoreReader, webhook: Webhook): Promise<AdminWebhook> {
  const dead = await reader.webhooks.countDead(webhook.id)
  return toAdminWebhook(webhook, { backlog: await countBacklog(reader, webhook), dead })
}

export function toAdminWebhook(
  { id, url, types, where, progress, createdAt, disabledAt }: Webhook,
  counts: { readonly backlog: number; readonly dead: number },
): AdminWebhook {
  return {
    id,
    url,
    tipos: [...types],
    where: where === null ? null : formatSelector(where),
    state: stateOf(disabledAt, progress.attempts),
    ...counts,
    attempts: progress.attempts,
    next_attempt_at: timeOrNull(progress.nextAttemptAt),
    last_success_at: timeOrNull(progress.lastSuccessAt),
    last_error_at: timeOrNull(progress.lastErrorAt),
    erro: progress.lastError,
    seq: progress.cursorSeq,
    created_at: createdAt.toISOString(),
    disabled_at: timeOrNull(disabledAt),
  }
}

function stateOf(disabledAt: Date | null, attempts: number): WebhookState {
  if (disabledAt !== null) return WebhookState.disabled
  return attempts > 0 ? WebhookState.failing : WebhookState.active
}

export async function listDead(
  reader: StoreReader,
  id: WebhookId,
): Promise<AdminReplies['showWebhook']['dead_messages']> {
  const messages: AdminReplies['showWebhook']['dead_messages'] = []
  for (const { seq, diedAt, error } of await reader.webhooks.listDead(id)) {
    const [entry] = await reader.listEntries({ afterSeq: seq - 1, limit: 1 })
    messages.push({
      seq,
      tipo_evento: entry?.eventType ?? '',
      died_at: diedAt.toISOString(),
      erro: error,
    })
  }
  return messages
}
