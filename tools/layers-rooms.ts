// Who may import whom. A file is in the first room that one of whose prefixes its path starts with. No rooms form a
// circle, types included. Tests may reach anywhere and are not held to this table; what is not a test never imports one.

import { ADMIN_ROOMS } from './layers-rooms-admin.ts'
import { AGENT_ROOMS } from './layers-rooms-agent.ts'

export interface Room {
  readonly name: string
  /** The folder of its name, unless others are given. */
  readonly prefixes?: readonly string[]
  /** For the table in docs/architecture.md, which is written from this one. */
  readonly what: string
  /** Rooms that it may import from, besides itself. */
  readonly imports: readonly string[]
  /** Rooms that it may import types from. */
  readonly types?: readonly string[]
}

const SHARED_GROUND = ['protocol', 'platform/pure', 'platform', 'pki', 'audit']

const SERVICE_GROUND = ['hub/service', 'hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND]

const ADMIN_GROUND = ['cargo', 'policy', 'roots', 'webhooks', 'rollout'].map(
  (name) => `hub/service/${name}`,
)

const HUB = [
  'hub/domain',
  'hub/ports',
  'hub/service/agent',
  ...ADMIN_GROUND,
  'hub/service/upkeep',
  'hub/service/admin',
  'hub/service',
  'hub/store',
  'hub/vault',
  'hub/ca',
  'hub/facts',
  'hub/outbound',
  'hub/webhook',
  'hub/backup',
  'hub/journal',
  'hub/archive',
  'hub/http/connections',
  'hub/http/json',
  'hub/http',
  'hub/standby',
  'hub/metrics',
]

export const ROOMS: readonly Room[] = [
  {
    name: 'protocol',
    what: 'routes, schemas, codes, limits, the dictionary of words',
    imports: [],
  },
  {
    name: 'platform/pure',
    prefixes: ['src/platform/canonical-ipv6.ts', 'src/platform/near-matches.ts'],
    what: 'the one spelling of an IPv6 address, and what a mistyped word meant: neither touches clock or disk, so the domain and the browser may use them',
    imports: [],
  },
  {
    name: 'platform',
    what: 'clock, logger, files, lock, durations, secrets',
    imports: ['platform/pure'],
  },
  {
    name: 'explain',
    what: 'what an entry of the log says to a person, in one sentence; pure, for hub and browser',
    imports: ['protocol'],
  },
  { name: 'completion', what: 'shell completion of any of the programs', imports: ['platform'] },
  {
    name: 'pki',
    what: 'keys, CSRs, certificates, chains',
    imports: ['platform', 'platform/pure'],
  },
  {
    name: 'trust',
    what: 'signatures of minisign, and what they say of the trusted roots; pure',
    imports: ['protocol'],
  },
  {
    name: 'ssh',
    what: 'keys, host certificates, known_hosts and signatures of OpenSSH; pure',
    imports: [],
  },
  {
    name: 'tpm',
    what: 'TPM 2.0: its keys, a challenge that one TPM can read, and what it signs; pure',
    imports: ['protocol', 'platform', 'pki'],
  },
  {
    name: 'sealing/recipients',
    what: 'for whom a file may be sealed, by what a person vouches for; pure, for the CLI and a browser',
    imports: ['protocol'],
  },
  {
    name: 'sealing',
    what: 'the age format: the agent opens, the CLI seals, the hub looks at headers only',
    imports: ['protocol', 'platform', 'sealing/recipients'],
  },
  {
    name: 'audit/browser',
    what: 'exports of the log, verified a second time by Web Crypto alone, for a browser',
    imports: [],
  },
  { name: 'audit', what: 'the hash chain and its verification; pure', imports: ['platform'] },
  {
    name: 'evidence',
    what: 'what the log proves of certificates, and the form of the file that says so; pure',
    imports: ['audit', 'platform'],
  },
  {
    name: 'backup',
    what: 'the form of a backup, byte by byte, and its file',
    imports: ['protocol', 'platform'],
  },
  {
    name: 'archive',
    what: 'the form of a segment of the log, byte by byte',
    imports: ['platform'],
  },
  {
    name: 'console',
    what: 'what the browser shows: one page of screens, which asks the admin port as `svc` does',
    imports: ['audit/browser', 'explain', 'protocol', 'platform/pure', 'sealing/recipients'],
  },
  {
    name: 'console-files',
    what: 'the files of the console, as a build packs them, and how they are answered',
    imports: ['platform'],
  },
  {
    name: 'hub/domain',
    what: 'types and decisions; pure',
    imports: ['protocol', 'platform/pure', 'explain'],
    types: ['pki', 'ssh', 'audit'],
  },
  {
    name: 'hub/ports',
    prefixes: [
      'src/hub/store/store.ts',
      'src/hub/store/store-copy.ts',
      'src/hub/store/journal.ts',
      'src/hub/store/journal-images.ts',
      'src/hub/store/leases.ts',
      'src/hub/store/hub-registry.ts',
      'src/hub/store/declared-store.ts',
      'src/hub/store/list-store.ts',
      'src/hub/store/passkey-store.ts',
      'src/hub/store/session-store.ts',
      'src/hub/store/webhook-store.ts',
      'src/hub/store/list-store.ts',
      'src/hub/store/rollout-store.ts',
      'src/hub/store/summary-store.ts',
      'src/hub/ca/certificate-authority.ts',
    ],
    what: 'what the hub needs of storage and CA',
    imports: ['protocol', 'platform'],
    types: ['hub/domain', 'pki', 'audit'],
  },
  {
    name: 'hub/service/agent',
    what: 'what agents ask for: enrol, authenticate, issue, manifest, events, recovery, content',
    imports: ['hub/service/cargo', ...SERVICE_GROUND, 'ssh', 'tpm'],
  },
  {
    name: 'hub/service/cargo',
    what: 'cargas and their entregas',
    imports: [...SERVICE_GROUND],
  },
  {
    name: 'hub/service/policy',
    what: 'politicas',
    imports: ['hub/service/cargo', ...SERVICE_GROUND],
  },
  {
    name: 'hub/service/roots',
    what: 'the sets of trusted roots',
    imports: ['hub/service/rollout', ...SERVICE_GROUND, 'trust'],
  },
  {
    name: 'hub/service/webhooks',
    what: 'webhooks as an operator sees them',
    imports: [...SERVICE_GROUND],
  },
  {
    name: 'hub/service/rollout',
    what: 'rollouts in waves, and freezes',
    imports: ['hub/service/cargo', ...SERVICE_GROUND],
  },
  {
    name: 'hub/service/upkeep',
    what: 'the hub’s own certificate, revoking at the CA, late renewals',
    imports: [...SERVICE_GROUND],
  },
  {
    name: 'hub/service/admin',
    what: 'what operators ask for, and who they are',
    imports: [...ADMIN_GROUND, 'archive', ...SERVICE_GROUND, 'ssh'],
  },
  {
    name: 'hub/service',
    what: 'what several use cases share: finding rows, recording the hub’s acts',
    imports: ['hub/domain', 'hub/ports', 'sealing', ...SHARED_GROUND],
  },
  {
    name: 'hub/store',
    what: 'SQLite behind the store port, and the journal that several stores share, in PostgreSQL',
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform', 'platform/pure', 'audit'],
  },
  {
    name: 'hub/vault',
    what: 'key derivation, data key, lock, `config.json`; a new vault makes its empty database',
    imports: ['hub/store', 'sealing', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'hub/ca',
    what: 'the clients of step-ca, OpenBao and ACME CAs, and what they share: the line, the connection, the check of what comes back',
    imports: ['hub/ports', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'hub/facts',
    what: 'what `svc doctor` is told of disk, CA, certificates and limits, seen by the hub or without it',
    imports: ['protocol', 'platform', 'pki'],
    types: ['hub/ca'],
  },
  {
    name: 'hub/outbound',
    what: 'what the hub asks of the world: names, documents, the keys of issuers, bounded and never the machine’s own neighbourhood',
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform'],
  },
  {
    name: 'hub/webhook',
    what: 'what the hub sends: a lane for each endpoint, over HTTPS, syslog or SMTP',
    imports: [
      'explain',
      'hub/outbound',
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
    name: 'hub/backup',
    what: 'backups of a vault: made at a pace that others bear, opened, checked, restored',
    imports: [
      'backup',
      'hub/service',
      'hub/domain',
      'hub/ports',
      'hub/vault',
      'protocol',
      'platform',
      'audit',
    ],
  },
  {
    name: 'hub/journal',
    what: 'a hub as one of several that share a journal: beats, leases, images of the vault',
    imports: ['hub/backup', 'hub/store', 'hub/ports', 'protocol', 'platform'],
  },
  {
    name: 'hub/standby',
    what: 'a second machine that keeps a copy of the vault: what hub and standby say to each other, promotion',
    imports: [
      'hub/backup',
      'hub/journal',
      'hub/service',
      'hub/store',
      'hub/vault',
      'hub/http',
      'hub/ports',
      'protocol',
      'platform',
      'pki',
      'audit',
    ],
  },
  {
    name: 'hub/archive',
    what: 'segments of the log: written, verified, read in the place of entries that have left the vault',
    imports: ['archive', 'hub/service', 'hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
  },
  {
    name: 'hub/http/connections',
    what: 'sockets, handshakes and turns, before a request is read',
    imports: ['protocol', 'platform/pure', 'platform', 'pki'],
  },
  {
    name: 'hub/http/json',
    what: 'JSON bodies and replies within bounds',
    imports: ['protocol', 'platform'],
  },
  {
    name: 'hub/http',
    what: 'health, enroll, mtls, admin: parse, call a service, render',
    imports: [
      'hub/http/connections',
      'hub/http/json',
      'console-files',
      'hub/service/agent',
      'hub/service/policy',
      'hub/service',
      'protocol',
      'platform/pure',
      'platform',
      'pki',
    ],
    types: ['hub/backup', 'hub/domain', 'hub/ports', 'hub/service/admin', 'hub/service/upkeep'],
  },
  {
    name: 'hub/metrics',
    what: 'the table of metrics, what fills it, readiness',
    imports: ['hub/domain', 'hub/ports', 'protocol', 'platform', 'audit'],
    types: ['hub/http', 'hub/store'],
  },
  {
    name: 'hub',
    what: 'wiring: configuration, boot, ports',
    imports: [...HUB, 'console-files', 'backup', ...SHARED_GROUND],
  },
  ...AGENT_ROOMS,
  ...ADMIN_ROOMS,
  {
    name: 'dev-ca',
    what: '`svc-ca`',
    imports: ['completion', 'platform', 'platform/pure', 'pki'],
  },
]
