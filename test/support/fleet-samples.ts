// Declared fleets for tests of what holds for every operation, beside the vault of rehearsal.test.ts.

import type { AdminRequest } from '../../src/protocol/admin/operations.ts'

const ASKED = { manager: 'default', files_sha256: '0'.repeat(64) }

export const FLEET_SAMPLE: AdminRequest<'applyFleet'> = {
  ...ASKED,
  politicas: [{ role: 'web', token_ttl_max: 3600 }, { role: 'db' }],
  join_rules: [
    { name: 'spot', role: 'web', pattern: 'spot-*.example.org', hosts_max: 2 },
    { name: 'images', hosts_max: 3 },
  ],
  webhooks: [{ url: 'https://other.example/in', tipos: ['agent_revoked'] }],
  agentes: [{ hostname: 'web-1', labels: { env: 'prod' } }],
}

/** By what is in the vault. */
export const REFUSED_FLEET: AdminRequest<'applyFleet'> = {
  ...ASKED,
  join_rules: [{ name: 'images', ttl_seconds: 90 * 86_400, role: 'web' }, { name: 'new' }],
}

export const JOIN_RULE = {
  name: 'images',
  method: 'token',
  pattern: 'web-*.example.org',
  role: 'web',
  hosts_max: 40,
} as const
