// Replies of `summarizeFleet`, for what decides about them.

import type { AdminFleetSummary, AdminUrgentHost } from '../../src/protocol/admin/fleet-summary.ts'

const NOW = '2026-01-31T12:00:00.000Z'

/** The first host on time loses its certificate in 9,840 s. */
export const SURVIVAL: NonNullable<AdminFleetSummary['survival_on_time']> = {
  seconds: 9840,
  first: {
    agente_id: 'a',
    hostname: 'web-44',
    purpose: 'delivery',
    nome: 'site',
    not_after: '2026-01-31T14:44:00.000Z',
  },
  losing: [],
}

/** Two thousand hosts, and nothing is wrong. */
export function summaryWith(changes: Partial<AdminFleetSummary> = {}): AdminFleetSummary {
  return {
    version: '0.5.0',
    time: NOW,
    as_of: NOW,
    hub: {
      name: 'hub.test',
      ready: true,
      subsystems: ['store', 'ca', 'certificate', 'audit'].map((name) => ({
        name,
        ready: true,
        reason: '',
        since: null,
      })),
      remarks: [],
      certificate_not_after: '2026-02-01T00:00:00.000Z',
      ca: { ready: true, last_failure: null },
    },
    agentes: { registered: 2000, atrasado: 0, revoked: 20, connected: 1990 },
    certificados: {
      bucket_seconds: 1800,
      from: NOW,
      buckets: [],
      expired: 0,
      atrasado: 0,
      renewing: 6,
      fresh: 1994,
      later: 100,
    },
    atrasados: { total: 0, first: [] },
    expirados: { total: 0, first: [] },
    survival: null,
    survival_on_time: null,
    entregas: { pendente: 0, em_andamento: 0, instalada: 0, entregue: 0, falhou: 0, revertida: 0 },
    failures: [],
    mudanca: null,
    rollouts: [],
    freeze: null,
    raizes: null,
    webhooks: { total: 0, first: [] },
    ca_revocations: { waiting: 0, refused: 0, oldest_at: null, reason: null },
    admin_refused: 0,
    counts: {
      agentes: 2000,
      cargas: 1,
      entregas_falhou: 0,
      politicas: 0,
      tokens: 0,
      join_rules: 0,
      webhooks: 0,
      admin_tokens: 1,
    },
    samples: null,
    ...changes,
  }
}

export function urgentHost(
  hostname: string,
  changes: Partial<AdminUrgentHost> = {},
): AdminUrgentHost {
  return {
    agente_id: `id of ${hostname}`,
    hostname,
    purpose: 'identity',
    nome: null,
    not_after: '2026-01-31T12:47:00.000Z',
    atrasado_since: '2026-01-31T10:00:00.000Z',
    last_contact_at: '2026-01-31T06:00:00.000Z',
    connected: false,
    waiting_reason: null,
    waiting_reason_at: null,
    ...changes,
  }
}
