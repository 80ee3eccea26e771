// Declared fleets of the hub that answers from memory: one policy differs.

import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { JOIN_RULE_OPERATIONS } from './fake-join-rules.ts'

const PLAN = {
  etag: 'e'.repeat(43),
  changes: [
    {
      kind: 'politica' as const,
      name: 'web',
      action: 'update' as const,
      fields: [{ field: 'cert_ttl', before: 3600, after: 28_800, owner: null, todo: null }],
      takes: [],
      takes_object: false,
      releases: [],
      todo: null,
    },
  ],
  unlisted: [],
}

const DECLARED_OPERATIONS: Pick<AdminOperations, 'planFleet' | 'applyFleet' | 'listOwnedFields'> = {
  planFleet: async () => PLAN,
  applyFleet: async () => ({ ...PLAN, join_tokens: [], webhook_secrets: [] }),
  listOwnedFields: async () => ({
    owners: [
      { id: '1', kind: 'politica', name: 'web', field: null, manager: 'default' },
      { id: '2', kind: 'politica', name: 'web', field: 'cert_ttl', manager: 'default' },
    ],
    next: null,
  }),
}

export const FLEET_OPERATIONS = { ...JOIN_RULE_OPERATIONS, ...DECLARED_OPERATIONS }
