// The admin operations on webhooks, in the shapes of `svc webhook … --json`.

import { Type } from 'typebox'
import type { WebhookState } from './words.ts'

const id = Type.String({ minLength: 1, maxLength: 128 })

export const createWebhookRequest = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 4096 }),
  /** Types of entries; none means all. */
  tipos: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 }),
})
export const webhookByIdRequest = Type.Object({ webhook: id })
export const replayWebhookRequest = Type.Object({
  webhook: id,
  /** From this entry on. */
  seq: Type.Optional(Type.Integer({ minimum: 1 })),
  /** From the first entry at or after this time on. */
  since: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  /** Only what was given up. */
  dead: Type.Optional(Type.Boolean()),
})

export interface AdminWebhook {
  id: string
  url: string
  tipos: string[]
  state: WebhookState
  /** How many messages wait. */
  backlog: number
  /** How many were given up. */
  dead: number
  /** Of the message that is next: how often it has failed, and when it is tried again. */
  attempts: number
  next_attempt_at: string | null
  last_success_at: string | null
  last_error_at: string | null
  erro: string | null
  /** The last entry that is done. */
  seq: number
  created_at: string
  disabled_at: string | null
}

interface AdminDeadMessage {
  seq: number
  tipo_evento: string
  died_at: string
  erro: string
}

interface AdminWebhookTest {
  id: string
  message_id: string
  ok: boolean
  status: number | null
  erro: string | null
  duration_ms: number
}

export interface AdminWebhookReplies {
  /** With the secret, shown this once. */
  createWebhook: AdminWebhook & { secret: string }
  listWebhooks: { webhooks: AdminWebhook[]; next: string | null }
  showWebhook: AdminWebhook & { dead_messages: AdminDeadMessage[] }
  testWebhook: AdminWebhookTest
  replayWebhook: AdminWebhook
  removeWebhook: AdminWebhook
}
