// The one agent of the fake hub.

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

/** What only its own view shows. */
export const SHOWN_OF_AGENT = {
  recipient_fingerprint: 'SHA256:6obr/OGzfBQZXyXym3i97qKd8YVTEgVValhsMoz0yGk',
  politicas: ['*', 'prod'],
}
