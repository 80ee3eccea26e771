// Messages for people, and the entries that they are about.

import type { WebhookMessage } from '../../src/hub/domain/webhook-message.ts'
import type { NoticeSource } from '../../src/hub/domain/notice-digest.ts'
import { ENGLISH } from '../../src/explain/english.ts'

export const NOTICES: NoticeSource = {
  hostname: 'hub.example.org',
  consoleUrl: 'https://hub.example.org:8445/console',
  language: ENGLISH,
}

export const SOME_AGENT = '5c1b0e7d-2f3a-4968-8d0c-1b2a3f4e5d6c'

export function messageOf(
  seq: number,
  type: string,
  payload: unknown,
  sender: { readonly agente_id?: string; readonly hostname?: string } = {},
): WebhookMessage {
  return {
    id: `msg_${String(seq).padStart(32, '0')}`,
    type,
    timestamp: '2026-11-21T12:00:00.000000Z',
    severity: 'warning',
    data: { seq, agente_id: null, hostname: null, payload, ...sender },
    body: '{}',
  }
}

export function lateMessage(seq: number, hostname = `web-${seq}`): WebhookMessage {
  return messageOf(seq, 'certificate_late', {
    agente_id: SOME_AGENT,
    hostname,
    nome: null,
    late_since: '2026-11-21T06:00:00.000Z',
    not_after: '2026-11-21T12:00:00.000Z',
  })
}
