// The one webhook of the fake hub.

import type { AdminWebhook } from '../../src/protocol/admin/webhooks.ts'

export const WEBHOOK: AdminWebhook = {
  id: '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44',
  url: 'https://alerts.example.org/cartorio',
  tipos: ['entrega_falhou'],
  where: null,
  state: 'failing',
  backlog: 2,
  dead: 1,
  attempts: 3,
  next_attempt_at: '2026-11-21T10:00:04.000Z',
  last_success_at: null,
  last_error_at: '2026-11-21T10:00:00.000Z',
  erro: 'answered 500',
  seq: 7,
  created_at: '2026-11-20T10:00:00.000Z',
  disabled_at: null,
}
