// Who may import whom. A file is in the first room that one of whose prefixes its path starts with. No rooms form a
// circle, types included. Tests may reach anywhere and are not held to this table; what is not a test never imports one.

export interface Room {
  readonly name: string
  readonly prefixes: readonly string[]
  /** For the table in docs/architecture.md, which is written from this one. */
  readonly what: string
  /** Rooms that it may import from, besides itself. */
  readonly imports: readonly string[]
  /** Rooms that it may import types from. */
  readonly types?: readonly string[]
}

const SHARED_GROUND = ['protocol', 'platform/pure', 'platform', 'pki', 'audit']

const HUB = [
  'hub/domain',
  'hub/ports',
  'hub/service/agent',
  'hub/service/cargo',
  'hub/service/policy',
  'hub/service/roots',
  'hub/service/webhooks',
  'hub/service/upkeep',
  'hub/service/admin',
  'hub/service',
  'hub/store',
  'hub/vault',
  'hub/ca',
  'hub/webhook',
  'hub/http/connections',
  'hub/http/json',
  'hub/http',
  'hub/metrics',
]

export const ROOMS: readonly Room[] = [
  {
    name: 'protocol',
    prefixes: ['src/protocol/'],
    what: 'routes, schemas, codes, limits, the dictionary of words',
    imports: [],
  },
  {
    name: 'platform/pure',
    prefixes: ['src/platform/canonical-ipv6.ts'],
    what: 'the one spelling of an IPv6 address: it touches neither clock nor disk, so the domain may use it',
    imports: [],
  },
  {
    name: 'platform',
    prefixes: ['src/platform/'],
    what: 'clock, logger, files, lock, durations, secrets',
    imports: ['platform/pure'],
  },
  {
    name: 'completion',
    prefixes: ['src/completion/'],
    what: 'shell completion of any of the programs',
    imports: ['platform'],
  },
  {
    name: 'pki',
    prefixes: ['src/pki/'],
    what: 'keys, CSRs, certificates, chains',
    imports: ['platform', 'platform/pure'],
  },
  {
    name: 'sealing',
    prefixes: ['src/sealing/'],
    what: 'the age format: the agent opens, the CLI seals, the hub looks at headers only',
    imports: ['protocol', 'platform'],
  },
  {
    name: 'audit',
    prefixes: ['src/audit/'],
    what: 'the hash chain and its verification; pure',
    imports: ['platform'],
  },
  {
    name: 'hub/domain',
    prefixes: ['src/hub/domain/'],
    what: 'types and decisions; pure',
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
    what: 'what the hub needs of storage and CA',
    imports: ['protocol', 'platform'],
    types: ['hub/domain', 'pki'],
  },
  {
    name: 'hub/service/agent',
    prefixes: ['src/hub/service/agent/'],
    what: 'what agents ask for: enrol, authenticate, issue, manifest, events, recovery, content',
    imports: [
      'hub/service/cargo',
      'hub/service',
      'hub/domain',
      'hub/ports',
      'sealing',
      ...SHARED_GROUND,
    ],
  },
  {
    name: 'hub/service/cargo',
    prefixes: ['src/hub/service/cargo/'],
    what: 'cargas and their entregas',
    imports: ['hub/service', 'hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/service/policy',
    prefixes: ['src/hub/service/policy/'],
    what: 'politicas',
    imports: [
      'hub/service/cargo',
      'hub/service',
      'hub/domain',
      'hub/ports',
      'sealing',
      ...SHARED_GROUND,
    ],
  },
  {
    name: 'hub/service/roots',
    prefixes: ['src/hub/service/roots/'],
    what: 'the sets of trusted roots',
    imports: ['hub/service', 'hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/service/webhooks',
    prefixes: ['src/hub/service/webhooks/'],
    what: 'webhooks as an operator sees them',
    imports: ['hub/service', 'hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/service/upkeep',
    prefixes: ['src/hub/service/upkeep/'],
    what: 'the hub’s own certificate, revoking at the CA, late renewals',
    imports: ['hub/service', 'hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/service/admin',
    prefixes: ['src/hub/service/admin/'],
    what: 'what operators ask for, and who they are',
    imports: [
      'hub/service/agent',
      'hub/service/cargo',
      'hub/service/policy',
      'hub/service/roots',
      'hub/service/webhooks',
      'hub/service',
      'hub/domain',
      'hub/ports',
      'sealing',
      ...SHARED_GROUND,
    ],
  },
  {
    name: 'hub/service',
    prefixes: ['src/hub/service/'],
    what: 'what several use cases share: finding rows, recording the hub’s acts',
    imports: ['hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/store',
    prefixes: ['src/hub/store/'],
    what: 'SQLite behind the store port',
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
  },
  {
    name: 'hub/vault',
    prefixes: ['src/hub/vault/'],
    what: 'key derivation, data key, lock, `config.json`; a new vault makes its empty database',
    imports: ['hub/store', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'hub/ca',
    prefixes: ['src/hub/ca/'],
    what: 'the step-ca client and its one-time tokens',
    imports: ['hub/ports', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'hub/webhook',
    prefixes: ['src/hub/webhook/'],
    what: 'what the hub posts: a lane for each endpoint, over HTTPS',
    imports: [
      'hub/service/webhooks',
      'hub/service',
      'hub/domain',
      'hub/ports',
      'protocol',
      'platform',
      'audit',
    ],
  },
  {
    name: 'hub/http/connections',
    prefixes: ['src/hub/http/connections/'],
    what: 'sockets, handshakes and turns, before a request is read',
    imports: ['protocol', 'platform/pure', 'platform', 'pki'],
  },
  {
    name: 'hub/http/json',
    prefixes: ['src/hub/http/json/'],
    what: 'JSON bodies and replies within bounds',
    imports: ['protocol', 'platform'],
  },
  {
    name: 'hub/http',
    prefixes: ['src/hub/http/'],
    what: 'health, enroll, mtls, admin: parse, call a service, render',
    imports: [
      'hub/http/connections',
      'hub/http/json',
      'hub/service/agent',
      'hub/service/policy',
      'hub/service',
      'protocol',
      'platform/pure',
      'platform',
      'pki',
    ],
    types: ['hub/domain', 'hub/ports', 'hub/service/admin', 'hub/service/upkeep'],
  },
  {
    name: 'hub/metrics',
    prefixes: ['src/hub/metrics/'],
    what: 'the table of metrics, what fills it, readiness',
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
    types: ['hub/http', 'hub/store'],
  },
  {
    name: 'hub',
    prefixes: ['src/hub/'],
    what: 'wiring: configuration, boot, ports',
    imports: [...HUB, ...SHARED_GROUND],
  },
  {
    name: 'agent/files',
    prefixes: ['src/agent/files/'],
    what: 'versioned files, switched by one rename',
    imports: [...SHARED_GROUND],
  },
  {
    name: 'agent',
    prefixes: ['src/agent/'],
    what: 'the agent; never the hub',
    imports: ['agent/files', 'sealing', 'completion', ...SHARED_GROUND],
  },
  {
    name: 'admin/terminal',
    prefixes: ['src/admin/terminal/'],
    what: 'tables, progress, questions',
    imports: ['platform'],
  },
  {
    name: 'admin/sealed',
    prefixes: ['src/admin/sealed/'],
    what: 'whom to seal for, and sealing',
    imports: ['admin/terminal', 'protocol', 'platform', 'sealing'],
  },
  {
    name: 'admin/wiring',
    prefixes: ['src/admin/main.ts', 'src/admin/run-svc.ts', 'src/admin/doors/open-vault.ts'],
    what: 'the wiring of `svc`: a hub’s socket, or the vault itself',
    imports: [
      'admin/doors',
      'admin/commands',
      'admin/terminal',
      'admin/sealed',
      'hub',
      'hub/service/admin',
      'hub/store',
      'hub/vault',
      'protocol',
      'platform',
    ],
  },
  {
    name: 'admin/doors',
    prefixes: ['src/admin/doors/'],
    what: 'the ways to a hub: socket, admin port',
    imports: ['admin/terminal', 'protocol', 'platform'],
  },
  {
    name: 'admin/commands',
    prefixes: ['src/admin/commands/'],
    what: 'the commands of `svc`, one a file',
    imports: [
      'admin/doors',
      'admin/terminal',
      'admin/sealed',
      'completion',
      'protocol',
      'platform',
      'audit',
      'sealing',
    ],
  },
  {
    name: 'dev-ca',
    prefixes: ['src/dev-ca/'],
    what: '`svc-ca`',
    imports: ['completion', 'platform', 'platform/pure', 'pki'],
  },
]
