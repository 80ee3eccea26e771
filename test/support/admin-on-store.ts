// The admin operations of a hub that is a store and nothing else.

import { systemClock } from '../../src/platform/clock.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminHub } from '../../src/hub/service/admin/admin-context.ts'
import { createAdminOperations } from '../../src/hub/service/admin/admin-operations.ts'
import type { Store } from '../../src/hub/store/store.ts'

export function adminOnStore(store: Store, more: Partial<AdminHub> = {}): AdminOperations {
  const hub: AdminHub = {
    store,
    clock: systemClock,
    addresses: { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' },
    hubNames: ['hub.test'],
    contentBytesMax: 1024,
    renewalThresholdMs: 0,
    ...more,
  }
  return createAdminOperations(hub, 'admin', 'admin')
}
