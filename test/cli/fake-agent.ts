// The one agent of the fake hub.

import type { AdminCertificate } from '../../src/protocol/admin/certificados.ts'
import type { AdminAgent } from '../../src/protocol/admin/views.ts'

export const AGENT: AdminAgent = {
  id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11',
  hostname: 'web-1.example.org',
  role: 'web',
  last_seen_at: '2026-11-21T10:00:00.000Z',
  last_poll_at: '2026-11-21T10:05:00.000Z',
  revoked_at: null,
  created_at: '2026-11-20T10:00:00.000Z',
  cert_serial: '0a1b2c',
  cert_not_after: '2026-11-22T10:00:00.000Z',
  atrasado: false,
  atrasado_since: null,
  duplicado: null,
  agent_version: '0.5.0',
  platform: 'linux-x64',
  addresses: ['192.0.2.17', '2001:db8::17'],
  first_seen_at: '2026-11-20T09:00:00.000Z',
  last_contact_at: '2026-11-21T09:59:30.000Z',
  online_since: null,
  ca_revocations_waiting: 0,
  ca_revocations_refused: 0,
  ca_revocation_reason: null,
  labels: ['env=prod', 'host.os=linux'],
}

export const CERTIFICATE: AdminCertificate = {
  id: 'c'.repeat(64),
  agente_id: AGENT.id,
  hostname: AGENT.hostname,
  purpose: 'identity',
  nome: null,
  entrega_id: null,
  serial: '0a1b2c',
  not_before: '2026-11-21T10:00:00.000Z',
  not_after: '2026-11-22T10:00:00.000Z',
  state: 'fresh',
  renewal_expected_at: '2026-11-22T02:00:00.000Z',
}

/** What only its own view shows. */
export const SHOWN_OF_AGENT = {
  recipient_fingerprint: 'SHA256:6obr/OGzfBQZXyXym3i97qKd8YVTEgVValhsMoz0yGk',
  politicas: ['*', 'prod'],
  certificados: [CERTIFICATE],
  roots: {
    numero: 3,
    epoca: 1,
    since: '2026-11-20T10:00:05.000Z',
    is_current: true,
    is_pinned: false,
    erro: null,
  },
  refusals: [
    {
      code: 'ca_failed',
      reason: 'ca_failed: the CA answered 500',
      operation: 'issue',
      entrega_id: null,
      nome: null,
      request_id: '0c8f3c7e-7d0a-4d0f-8f5e-0a4f6f0a1b2c',
      at: '2026-11-21T10:04:00.000Z',
      since: '2026-11-21T10:01:00.000Z',
      times: 4,
    },
  ],
}
