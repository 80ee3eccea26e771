// Admin operations on a store, with no hub around it: what an operator asks for, and what others are told of it.

import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminRole } from '../../src/protocol/admin/roles.ts'
import { createAdminOperations } from '../../src/hub/service/admin/admin-operations.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { NOW } from '../store/store-samples.ts'

type Hub = Parameters<typeof createAdminOperations>[0]

export interface ToldAdmin {
  readonly admin: AdminOperations
  /** The same, asked for with an admin token of that role, and again with the same secret where there is one. */
  as(role: AdminRole, secret?: Parameters<typeof createAdminOperations>[3]): AdminOperations
  /** Whom the acts so far were told to, in order. */
  readonly told: string[]
}

export function openAdmin(store: Store, changes: Partial<Hub> = {}): ToldAdmin {
  const told: string[] = []
  const hub: Hub = {
    store,
    clock: { now: () => NOW, sleep: () => Promise.resolve() },
    addresses: { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' },
    hubNames: ['hub.test', '*.hub.test'],
    contentBytesMax: 1024,
    renewalThresholdMs: 0,
    notifier: {
      announce: (ids: Iterable<string>) =>
        void told.push(...Array.from(ids, (id) => `agent ${id}`)),
      announceAll: () => void told.push('all agents'),
      isOnline: () => false,
    },
    ...changes,
  }
  return {
    told,
    admin: createAdminOperations(hub, 'admin', 'admin'),
    as: (role, secret) => createAdminOperations(hub, 'token:ci', role, secret),
  }
}
