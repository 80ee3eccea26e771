// What svc doctor sees of a hub with which nothing is wrong, in literals; a test changes the one fact that it is about.

import { Unchecked } from '../../src/doctor/finding.ts'
import type { Scene } from '../../src/doctor/scene.ts'

type Facts = {
  readonly [Look in Exclude<keyof Scene, 'now' | 'version'>]: Awaited<ReturnType<Scene[Look]>>
}

export const NOW = new Date('2026-11-23T12:00:00.000Z')
const GIB = 1024 ** 3

const status: NonNullable<Facts['hub']['status']> = {
  version: '0.5.0',
  hub: {
    ready: true,
    subsystems: [
      { name: 'audit', ready: true, reason: 'the audit log ends whole', since: null },
      { name: 'ca', ready: true, reason: 'signed 2m ago', since: null },
    ],
    remarks: [],
  },
  agentes: { registered: 3, atrasado: 0, revoked: 0 },
  certificados: {
    identity: { valid: 3, atrasado: 0, expired: 0 },
    delivery: { valid: 3, atrasado: 0, expired: 0 },
  },
  entregas: { pendente: 1, em_andamento: 0, instalada: 3, entregue: 0, falhou: 0, revertida: 0 },
  survival: null,
  mudanca: null,
  rollouts: [],
  freeze: null,
  survival_on_time: null,
}

const disk: Facts['disk'] = {
  directory: '/var/lib/svc',
  file_system: 0xef_53,
  free_bytes: 40 * GIB,
  floor_bytes: 64 * 1024 * 1024,
  files_free: 1_000_000,
  vault_bytes: 5 * GIB,
  growth_bytes_per_day: 30 * 1024 * 1024,
}
const authority: Facts['authority'] = {
  url: 'https://ca.example.org:9000',
  fault: null,
  reason: 'it has the provisioner k1, and the hub has its key',
  clock_ahead_seconds: 1,
}
const certificates: Facts['certificates'] = {
  own: {
    not_before: '2026-11-23T06:00:00.000Z',
    not_after: '2026-11-24T06:00:00.000Z',
    names: ['hub.example.org'],
  },
  issuers: [
    { name: 'Root', is_root: true, not_after: '2036-01-01T00:00:00.000Z' },
    { name: 'Intermediate', is_root: false, not_after: '2031-01-01T00:00:00.000Z' },
  ],
}
const limits: Facts['limits'] = { open_files_max: 65_536, core_bytes_max: 0, swap_bytes_max: 0 }

export const SOUND: Facts = {
  hub: {
    address: '/var/lib/svc/admin.sock',
    status,
    examination: {
      version: '0.5.0',
      time: NOW.toISOString(),
      disk,
      ca: authority,
      certificates,
      process: limits,
      backups: {
        interval_seconds: 86_400,
        last_at: '2026-11-23T02:00:00.000Z',
        up_seconds: 900_000,
      },
      segments: { directory: null, segments: 0, missing: 0, damaged: 0, faulty: [] },
      checkpoints: {
        vault_at: '2026-11-23T11:59:59.000Z',
        outside_at: '2026-11-23T11:59:59.000Z',
        is_kept_outside: true,
        up_seconds: 86_400,
      },
      backlog: {
        webhooks: [
          {
            id: 'w1',
            origin: 'https://alerts.example.org',
            disabled: false,
            error: null,
            waiting: 2,
            given_up: 0,
          },
        ],
        revocations: { waiting: 0, refused: 0, oldest_at: null, reason: null },
        late: [],
        last_entry_at: '2026-11-23T11:59:00.000000Z',
        entries: 812,
      },
      unknown: [],
    },
    failure: undefined,
    waitsFor: [],
  },
  settings: {
    path: '/etc/svc-server/svc-server.env',
    faults: [],
    unknown: [],
    passphraseFaults: [],
    isNamed: true,
    serverNames: ['hub.example.org'],
    backupIntervalMs: 86_400_000,
    renewalThresholdMs: 6 * 3_600_000,
    connectionsMax: 16_384,
  },
  secrets: [
    {
      path: '/etc/svc-server/svc-server.env',
      variable: undefined,
      use: 'settings',
      mode: 0o100644,
      uid: 0,
      stranger: undefined,
      holds: [],
    },
    {
      path: '/etc/svc-server/master-passphrase',
      variable: 'SVC_MASTER_PASSPHRASE_FILE',
      use: 'secret',
      mode: 0o100600,
      uid: 0,
      stranger: undefined,
      holds: [],
    },
    {
      path: '/etc/svc-server/ca-root.crt',
      variable: 'SVC_CA_ROOT_CA_PATH',
      use: 'trust',
      mode: 0o100644,
      uid: 0,
      stranger: undefined,
      holds: [],
    },
  ],
  vault: {
    root: '/var/lib/svc',
    mode: 0o40700,
    uid: 998,
    owner: 'svc-server',
    stranger: undefined,
    files: [
      { name: 'config.json', mode: 0o600, uid: 998 },
      { name: 'db.enc', mode: 0o600, uid: 998 },
      { name: 'server.crt', mode: 0o644, uid: 998 },
    ],
  },
  unit: { name: 'svc-server', activeState: 'active', result: 'success', restarts: 0, limits },
  machine: {
    swaps: [{ name: '/dev/sda2', bytes: 2 * GIB, isSafe: false }],
    corePattern: '|/usr/lib/systemd/systemd-coredump %P',
  },
  listeners: [
    { variable: 'SVC_MTLS_BIND', address: '0.0.0.0:8443', port: 8443, isListening: true },
  ],
  names: [{ name: 'hub.example.org', variable: 'SVC_SERVER_CN', fault: undefined }],
  publicUrl: {
    url: 'https://hub.example.org/',
    failure: undefined,
    certificate: {
      notBefore: new Date('2026-10-01T00:00:00.000Z'),
      notAfter: new Date('2027-01-01T00:00:00.000Z'),
    },
  },
  backups: {
    path: '/mnt/backup',
    failure: undefined,
    isBesideVault: false,
    lastAt: new Date('2026-11-23T02:00:00.000Z'),
  },
  database: { name: 'PostgreSQL 15.18 at db1:5432', findings: [] },
  standby: {
    role: 'hub',
    status: {
      role: 'hub',
      mode: 'required',
      state: 'together',
      other: '10.0.0.2',
      reason: null,
      record: 7,
      hub_heard_at: null,
    },
  },
  checkpointDirectory: { path: '/mnt/safe', failure: undefined, isBesideVault: false },
  disk,
  authority,
  certificates,
  limits,
}

/** No hub answers. */
export const SILENT_HUB = { ...SOUND.hub, status: undefined, examination: undefined }

/** An Unchecked in the place of facts is thrown by that look. */
export type ChangedFacts = { readonly [Look in keyof Facts]?: Facts[Look] | Unchecked }

export function sceneOf(changes: ChangedFacts = {}): Scene {
  const facts = { ...SOUND, ...changes }
  const look =
    <T>(value: T | Unchecked): (() => Promise<T>) =>
    () =>
      value instanceof Unchecked ? Promise.reject(value) : Promise.resolve(value)
  return {
    now: () => NOW,
    version: '0.5.0',
    hub: look(facts.hub),
    settings: look(facts.settings),
    secrets: look(facts.secrets),
    vault: look(facts.vault),
    unit: look(facts.unit),
    machine: look(facts.machine),
    listeners: look(facts.listeners),
    names: look(facts.names),
    publicUrl: look(facts.publicUrl),
    checkpointDirectory: look(facts.checkpointDirectory),
    backups: look(facts.backups),
    database: look(facts.database),
    standby: look(facts.standby),
    disk: look(facts.disk),
    authority: look(facts.authority),
    certificates: look(facts.certificates),
    limits: look(facts.limits),
  }
}
