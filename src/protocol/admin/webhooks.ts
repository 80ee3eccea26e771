// The admin operations on webhooks, in the shapes of `svc webhook … --json`.

import { Type, type Static } from 'typebox'
import { nullable, time } from '../shapes.ts'
import { WebhookState } from '../words.ts'

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

export const AdminWebhook = Type.Object({
  id: Type.String(),
  url: Type.String(),
  tipos: Type.Array(Type.String()),
  state: Type.Enum(Object.values(WebhookState)),
  /** How many messages wait. */
  backlog: Type.Integer(),
  /** How many were given up. */
  dead: Type.Integer(),
  /** Of the message that is next: how often it has failed, and when it is tried again. */
  attempts: Type.Integer(),
  next_attempt_at: nullable(time),
  last_success_at: nullable(time),
  last_error_at: nullable(time),
  erro: nullable(Type.String()),
  /** The last entry that is done. */
  seq: Type.Integer(),
  created_at: time,
  disabled_at: nullable(time),
})
export type AdminWebhook = Static<typeof AdminWebhook>

const deadMessage = Type.Object({
  seq: Type.Integer(),
  tipo_evento: Type.String(),
  died_at: time,
  erro: Type.String(),
})
const webhookTest = Type.Object({
  id: Type.String(),
  message_id: Type.String(),
  ok: Type.Boolean(),
  status: nullable(Type.Integer()),
  erro: nullable(Type.String()),
  duration_ms: Type.Number(),
})

export const ADMIN_WEBHOOK_REPLIES = {
  /** With the secret, shown this once. */
  createWebhook: Type.Object({ ...AdminWebhook.properties, secret: Type.String() }),
  listWebhooks: Type.Object({
    webhooks: Type.Array(AdminWebhook),
    next: nullable(Type.String()),
  }),
  showWebhook: Type.Object({
    ...AdminWebhook.properties,
    dead_messages: Type.Array(deadMessage),
  }),
  testWebhook: webhookTest,
  replayWebhook: AdminWebhook,
  removeWebhook: AdminWebhook,
} as const
