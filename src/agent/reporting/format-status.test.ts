import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatStatus } from './format-status.ts'
import type { AgentStatus } from './status.ts'

const STATUS: AgentStatus = {
  running: true,
  identity: {
    hostname: 'web-1',
    cert_cn: 'web-1',
    cert_serial: '0a',
    not_before: '2026-01-01T00:00:00Z',
    not_after: '2026-01-02T00:00:00Z',
    data_dir: '/data',
    recipient: null,
    recipient_fingerprint: null,
    recipient_problem: 'run makes one',
  },
  state: 'superseded',
  hub: { said: 'certificate_superseded', at: '2026-01-01T01:00:00Z' },
  last_poll_at: '2026-01-01T01:00:00Z',
  next_poll_at: null,
  problems: ['disk full'],
  events_waiting: 2,
  stream: { state: 'down', since: null, problem: 'refused' },
  survival_seconds: 3600,
  first_to_end: { name: 'site', not_after: '2026-01-01T02:00:00Z' },
  deliveries: [
    {
      id: 'd',
      kind: 'csr_cert',
      name: 'site',
      version: 1,
      progress: 'done',
      cancelled: false,
      hook_failure: null,
      cert_serial: '0b',
      not_after: '2026-01-01T02:00:00Z',
      is_installed: true,
    },
  ],
}

test('[WRD-12] svc-agent status has English labels and states', () => {
  assert.equal(
    formatStatus('en', STATUS),
    `svc-agent status
running: yes
hostname: web-1
state: superseded
hub: refused it: certificate_superseded, at 2026-01-01T01:00:00Z
cert serial: 0a
not_after: 2026-01-02T00:00:00Z
recipient fingerprint: (none)
last poll: 2026-01-01T01:00:00Z
stream: down (refused)
events waiting: 2
survives without the hub: 1h (delivery site, until 2026-01-01T02:00:00Z)
problem: disk full
delivery site v1: done, serial 0b, not_after 2026-01-01T02:00:00Z`,
  )
})

test('[WRD-12] svc-agent status has Portuguese labels and states when they are asked for', () => {
  assert.equal(
    formatStatus('pt', STATUS),
    `svc-agent status
em execucao: sim
hostname: web-1
estado: substituido
hub: refused it: certificate_superseded, at 2026-01-01T01:00:00Z
serial do certificado: 0a
valido_ate: 2026-01-02T00:00:00Z
impressao do destinatario: (none)
ultima consulta: 2026-01-01T01:00:00Z
stream: desligado (refused)
eventos na fila: 2
sobrevive sem o hub: 1h (delivery site, until 2026-01-01T02:00:00Z)
problema: disk full
entrega site v1: concluida, serial 0b, valido_ate 2026-01-01T02:00:00Z`,
  )
})
