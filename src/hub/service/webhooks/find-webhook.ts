import { AdminRefusal } from '../admin-act.ts'
import { isUuid, type WebhookId } from '../../../protocol/identifiers.ts'
import type { Webhook } from '../../domain/webhook.ts'
import type { StoreReader } from '../../store/store.ts'

export async function findWebhook(reader: StoreReader, wanted: string): Promise<Webhook> {
  const webhook = isUuid(wanted) ? await reader.webhooks.find(wanted as WebhookId) : undefined
  if (webhook !== undefined) return webhook
  throw webhookNotFound(wanted)
}

export function webhookNotFound(wanted: string): AdminRefusal {
  return new AdminRefusal('webhook_not_found', `no webhook ${wanted}`)
}
