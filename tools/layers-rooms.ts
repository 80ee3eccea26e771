// Who may import whom. A file is in the first room that one of whose prefixes its path starts with.
// Tests may reach anywhere and are not held to this table; what is not a test never imports one.

export interface Room {
  readonly name: string
  readonly prefixes: readonly string[]
  /** Rooms that it may import from, besides itself. */
  readonly imports: readonly string[]
  /** Rooms that it may import types from. */
  readonly types?: readonly string[]
}

const SHARED_GROUND = ['protocol', 'platform/pure', 'platform', 'pki', 'audit']

export const ROOMS: readonly Room[] = [
  { name: 'protocol', prefixes: ['src/protocol/'], imports: [] },
  {
    // Without effects, time or environment, so that the domain may use them too and stays pure.
    name: 'platform/pure',
    prefixes: ['src/platform/canonical-ipv6.ts'],
    imports: [],
  },
  { name: 'platform', prefixes: ['src/platform/'], imports: ['platform/pure'] },
  { name: 'pki', prefixes: ['src/pki/'], imports: ['platform', 'platform/pure'] },
  {
    // The age format: the agent opens, the CLI seals, the hub only looks at headers.
    name: 'sealing',
    prefixes: ['src/sealing/'],
    imports: ['protocol', 'platform'],
  },
  { name: 'audit', prefixes: ['src/audit/'], imports: ['platform'] },
  {
    name: 'hub/domain',
    prefixes: ['src/hub/domain/'],
    imports: ['protocol', 'platform/pure'],
    types: ['pki', 'audit'],
  },
  {
    name: 'hub/ports',
    prefixes: [
      'src/hub/store/store.ts',
      'src/hub/store/webhook-store.ts',
      'src/hub/ca/certificate-authority.ts',
    ],
    imports: ['protocol', 'platform'],
    types: ['hub/domain', 'pki'],
  },
  {
    name: 'hub/service',
    prefixes: ['src/hub/service/'],
    imports: ['hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/store',
    prefixes: ['src/hub/store/'],
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
  },
  {
    // The store is here because a new vault makes its own empty database.
    name: 'hub/vault',
    prefixes: ['src/hub/vault/'],
    imports: ['hub/store', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'hub/ca',
    prefixes: ['src/hub/ca/'],
    imports: ['hub/ports', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'hub/webhook',
    prefixes: ['src/hub/webhook/'],
    imports: ['hub/service', 'hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
  },
  {
    name: 'hub/http',
    prefixes: ['src/hub/http/'],
    imports: ['hub/service', 'protocol', 'platform/pure', 'platform', 'pki'],
    types: ['hub/domain', 'hub/ports'],
  },
  {
    name: 'hub/metrics',
    prefixes: ['src/hub/metrics/'],
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
    types: ['hub/http', 'hub/store'],
  },
  {
    name: 'hub',
    prefixes: ['src/hub/'],
    imports: [
      'hub/domain',
      'hub/ports',
      'hub/service',
      'hub/store',
      'hub/vault',
      'hub/ca',
      'hub/webhook',
      'hub/http',
      'hub/metrics',
      ...SHARED_GROUND,
    ],
  },
  { name: 'agent', prefixes: ['src/agent/'], imports: ['sealing', ...SHARED_GROUND] },
  {
    // Without a hub the CLI opens the vault itself: these two files wire it to the adapters.
    name: 'admin/wiring',
    prefixes: ['src/admin/main.ts', 'src/admin/doors/open-vault.ts'],
    imports: ['admin', 'hub', 'hub/service', 'hub/store', 'hub/vault', 'protocol', 'platform'],
  },
  {
    name: 'admin',
    prefixes: ['src/admin/'],
    imports: ['hub/service', 'protocol', 'platform', 'audit', 'sealing'],
  },
  { name: 'dev-ca', prefixes: ['src/dev-ca/'], imports: ['platform', 'platform/pure', 'pki'] },
]
