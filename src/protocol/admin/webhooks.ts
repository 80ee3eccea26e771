// The admin operations on webhooks, in the shapes of `svc webhook … --json`.

import type { Static } from 'typebox'
import { WebhookState } from '../words.ts'
import {
  type AdminOperation,
  listRequest,
  next,
  nullable,
  selectorText,
  time,
} from './operation.ts'
import { Type } from './plain-type.ts'

const byId = Type.Object({ webhook: Type.String({ minLength: 1, maxLength: 128 }) })

export const AdminWebhook = Type.Object({
  id: Type.String(),
  url: Type.String(),
  tipos: Type.Array(Type.String()),
  /** The hosts that it gets entries about; null for all entries. */
  where: nullable(Type.String()),
  state: Type.Enum(Object.values(WebhookState)),
  /** How many messages wait; with `where`, how many entries the hub has yet to look at. */
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

export const WEBHOOK_OPERATIONS = {
  createWebhook: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/webhooks',
    role: 'admin',
    confirm: 'always',
    summary:
      'Make a webhook; only this reply has its secret. The scheme of the URL says the form of what is sent.',
    request: Type.Object({
      url: Type.String({ minLength: 1, maxLength: 4096 }),
      /** Types of entries; an empty list means all types, and to people (Slack, Teams, mail) those that a person should look at. */
      tipos: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 }),
      where: Type.Optional(selectorText),
      /** Of the form `Name: value`, for a receiver of OTLP; no reply shows them. */
      headers: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 4200 }), { maxItems: 16 }),
      ),
      /** Of the user in the URL of a mail server; no reply shows it. */
      password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    }),
    /** With the secret, shown this once; null where the form has no signatures. */
    reply: Type.Object({ ...AdminWebhook.properties, secret: nullable(Type.String()) }),
  },
  listWebhooks: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/webhooks',
    role: 'admin',
    summary: 'The webhooks, oldest first, with the state of each.',
    request: listRequest,
    reply: Type.Object({ webhooks: Type.Array(AdminWebhook), next }),
  },
  showWebhook: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/webhooks/show',
    role: 'admin',
    summary: 'One webhook, and the messages that the hub gave up.',
    request: byId,
    reply: Type.Object({
      ...AdminWebhook.properties,
      dead_messages: Type.Array(deadMessage),
    }),
  },
  testWebhook: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/webhooks/test',
    role: 'admin',
    summary: 'Send a test message now, and report the result.',
    request: byId,
    reply: Type.Object({
      id: Type.String(),
      message_id: Type.String(),
      ok: Type.Boolean(),
      status: nullable(Type.Integer()),
      erro: nullable(Type.String()),
      duration_ms: Type.Number(),
    }),
  },
  replayWebhook: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/webhooks/replay',
    role: 'admin',
    summary: 'Send messages again: from an entry on, or the messages that the hub gave up.',
    request: Type.Object({
      ...byId.properties,
      /** From this entry on. */
      seq: Type.Optional(Type.Integer({ minimum: 1 })),
      /** From the first entry at or after this time on. */
      since: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      /** Only what was given up. */
      dead: Type.Optional(Type.Boolean()),
    }),
    reply: AdminWebhook,
  },
  removeWebhook: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/webhooks/remove',
    role: 'admin',
    summary: 'Remove a webhook.',
    request: byId,
    reply: AdminWebhook,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
