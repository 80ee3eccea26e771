import type { AdminFleetSummary } from '../../src/protocol/admin/fleet-summary.ts'

const NONE = { expired: 0, atrasado: 0, renewing: 0, fresh: 0 }

export const FLEET_SUMMARY: AdminFleetSummary = {
  version: '0.1.0',
  time: '2026-11-21T10:00:00.000Z',
  as_of: '2026-11-21T10:00:00.000Z',
  hub: null,
  agentes: { registered: 0, atrasado: 0, revoked: 0, connected: null },
  certificados: {
    ...NONE,
    bucket_seconds: 1800,
    from: '2026-11-21T10:00:00.000Z',
    buckets: [],
    later: 0,
  },
  atrasados: { total: 0, first: [] },
  expirados: { total: 0, first: [] },
  survival: null,
  survival_on_time: null,
  entregas: {
    pendente: 0,
    em_andamento: 0,
    instalada: 0,
    entregue: 0,
    falhou: 0,
    revertida: 0,
  },
  failures: [],
  mudanca: null,
  rollouts: [],
  freeze: null,
  raizes: null,
  webhooks: { total: 0, first: [] },
  ca_revocations: { waiting: 0, refused: 0, oldest_at: null, reason: null },
  admin_refused: 0,
  counts: {
    agentes: 0,
    cargas: 0,
    entregas_falhou: 0,
    politicas: 0,
    tokens: 0,
    join_rules: 0,
    webhooks: 0,
    admin_tokens: 0,
  },
  samples: null,
}
