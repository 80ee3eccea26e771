import { createWebhook } from './create-webhook.ts'
import { replayWebhook } from './replay-webhook.ts'
import { listWebhooks, removeWebhook, showWebhook, testWebhook } from './webhook-operations.ts'

/** The operations on webhooks, by their names. */
export const WEBHOOK_USE_CASES = {
  createWebhook,
  listWebhooks,
  showWebhook,
  testWebhook,
  replayWebhook,
  removeWebhook,
}
