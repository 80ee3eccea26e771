import assert from 'node:assert/strict'
import type { DatabaseFinding } from '../protocol/admin/database-finding.ts'
import { type Fault, testFaults } from '../../test/support/doctor-faults.ts'
import { type ChangedFacts, SILENT_HUB as SILENT, SOUND } from '../../test/support/sound-scene.ts'

const { hub, settings, authority, certificates, limits, publicUrl } = SOUND
const { status } = hub
assert.ok(status !== undefined && publicUrl?.certificate !== undefined)

function withStatus(changed: Partial<NonNullable<typeof status>>): ChangedFacts {
  return { hub: { ...hub, status: { ...status!, ...changed } } }
}

function withOwn(not_before: string, not_after: string): ChangedFacts {
  return {
    certificates: { ...certificates, own: { not_before, not_after, names: ['hub.example.org'] } },
  }
}

function withIssuer(is_root: boolean, not_after: string): ChangedFacts {
  return { certificates: { ...certificates, issuers: [{ name: 'X', is_root, not_after }] } }
}

function withPublic(changed: object): ChangedFacts {
  return { publicUrl: { ...publicUrl!, ...changed } }
}

function withDatabase(finding: DatabaseFinding): ChangedFacts {
  return { database: { name: 'PostgreSQL 15.18 at db1:5432', findings: [finding] } }
}

const { standby } = SOUND
assert.ok(standby?.status !== undefined)
const { status: together } = standby

function withStandby(role: 'hub' | 'standby', changed: Partial<typeof together>): ChangedFacts {
  return { standby: { role, status: { ...together, role, ...changed } } }
}

const FAULTS: readonly Fault[] = [
  [
    'a standby that is away',
    withStandby('hub', { state: 'alone', other: null, reason: 'no standby is connected' }),
    'standby',
    'warning',
    /^the standby lacks writes: no standby is connected$/,
  ],
  [
    'a hub that waits for its standby',
    withStandby('hub', { state: 'apart', other: null, reason: 'no space left' }),
    'standby',
    'error',
    /^the hub writes nothing without its standby: no space left$/,
  ],
  [
    'a standby without a copy',
    withStandby('standby', { state: 'empty', other: 'https://hub1:8447', reason: 'ECONNREFUSED' }),
    'standby',
    'warning',
    /^this standby has no copy of the vault yet: https:\/\/hub1:8447: ECONNREFUSED$/,
  ],
  [
    'a standby that another copy is on its way to',
    withStandby('standby', { state: 'behind', other: 'https://hub1:8447', reason: null }),
    'standby',
    'warning',
    /^this standby lacks writes: another copy of the vault is on its way$/,
  ],
  [
    'a standby whose hub is silent',
    withStandby('standby', { state: 'silent', other: 'https://hub1:8447', reason: 'ECONNREFUSED' }),
    'standby',
    'warning',
    /^this standby hears nothing of its hub: /,
  ],
  [
    'a standby that does not run',
    { standby: { role: 'standby', status: undefined } },
    'standby',
    'error',
    /^this machine is a standby, and no svc-server runs here$/,
  ],
  [
    'a vault whose standby was promoted',
    { standby: { role: 'deposed', status: undefined } },
    'standby',
    'error',
    /^the standby of this vault was promoted, and is the hub now$/,
  ],
  [
    'a clock that is ahead',
    { authority: { ...authority, clock_ahead_seconds: 90 } },
    'clock',
    'error',
    /^the hub’s clock is 1m 30s ahead of the CA’s$/,
  ],
  [
    'a clock that is behind',
    { authority: { ...authority, clock_ahead_seconds: -301 } },
    'clock',
    'error',
    /5m 1s behind the CA’s$/,
  ],
  [
    'a clock that drifts',
    { authority: { ...authority, clock_ahead_seconds: -45 } },
    'clock',
    'warning',
    /45s behind/,
  ],
  [
    'a CA that is away',
    {
      authority: {
        ...authority,
        fault: 'unreachable',
        reason: 'connect ECONNREFUSED',
        clock_ahead_seconds: null,
      },
    },
    'ca',
    'error',
    /^https:\/\/ca.example.org:9000: connect ECONNREFUSED$/,
  ],
  [
    'a database behind a pooler',
    withDatabase({ fault: 'pooled', status: 'failed', message: 'transaction pooling' }),
    'database',
    'error',
    /^transaction pooling$/,
  ],
  [
    'a database without a standby',
    withDatabase({ fault: 'no_standby', status: 'warning', message: 'it is empty' }),
    'database',
    'warning',
    /is empty$/,
  ],
  [
    'a provisioner that is gone',
    { authority: { ...authority, fault: 'no_provisioner', reason: 'no k1' } },
    'ca',
    'error',
    /no k1$/,
  ],
  [
    'a threshold that is too near the end',
    { settings: { ...settings, renewalThresholdMs: 600_000 } },
    'lifetime',
    'warning',
    /only 10m are left of the 1d/,
  ],
  [
    'a life that is too short',
    withOwn('2026-11-23T11:30:00.000Z', '2026-11-23T13:30:00.000Z'),
    'lifetime',
    'warning',
    /only 40m are left of the 2h/,
  ],
  [
    'a certificate that has ended',
    withOwn('2026-11-22T06:00:00.000Z', '2026-11-23T06:00:00.000Z'),
    'certificate',
    'error',
    /ended at 2026-11-23T06/,
  ],
  [
    'a certificate that is renewed late',
    withOwn('2026-11-22T14:00:00.000Z', '2026-11-23T14:00:00.000Z'),
    'certificate',
    'warning',
    /ends in 2h, at/,
  ],
  [
    'a certificate that has not begun',
    withOwn('2026-11-24T06:00:00.000Z', '2026-11-25T06:00:00.000Z'),
    'certificate',
    'error',
    /begins at 2026-11-24/,
  ],
  [
    'a certificate without a name',
    { settings: { ...settings, serverNames: ['hub.example.org', 'hub.internal'] } },
    'certificate',
    'warning',
    /lacks hub.internal$/,
  ],
  [
    'a root that ends soon',
    withIssuer(true, '2027-01-01T00:00:00.000Z'),
    'issuers',
    'warning',
    /^the root X ends in 38d/,
  ],
  [
    'a root that has ended',
    withIssuer(true, '2026-01-01T00:00:00.000Z'),
    'issuers',
    'error',
    /^the root X ended at/,
  ],
  [
    'an intermediate that ends this week',
    withIssuer(false, '2026-11-25T00:00:00.000Z'),
    'issuers',
    'error',
    /^the intermediate X ends in 1d 12h/,
  ],
  [
    'a name that nobody knows',
    { names: [{ name: 'hub.example.org', variable: 'SVC_SERVER_CN', fault: 'unknown name' }] },
    'names',
    'warning',
    /^this machine does not find hub.example.org \(unknown name\)$/,
  ],
  [
    'a proxy that is away',
    withPublic({ failure: 'ECONNREFUSED', certificate: undefined }),
    'public-url',
    'warning',
    /^this machine does not reach https:\/\/hub.example.org\/: ECONNREFUSED$/,
  ],
  [
    'a proxy that nobody trusts',
    withPublic({ failure: 'UNABLE_TO_GET_ISSUER_CERT' }),
    'public-url',
    'warning',
    /^neither the system’s roots nor the CA’s vouch for/,
  ],
  [
    'a proxy’s certificate that ends',
    withPublic({
      certificate: { ...publicUrl.certificate, notAfter: new Date('2026-11-25T12:00:00.000Z') },
    }),
    'public-url',
    'warning',
    /ends in 2d, at/,
  ],
  [
    'a proxy’s certificate that has ended',
    withPublic({
      certificate: { ...publicUrl.certificate, notAfter: new Date('2026-11-20T12:00:00.000Z') },
    }),
    'public-url',
    'error',
    /ended at 2026-11-20/,
  ],
  [
    'a port where nobody listens',
    { listeners: SOUND.listeners.map((each) => ({ ...each, isListening: false })) },
    'ports',
    'warning',
    /^the hub runs and does not listen on 0.0.0.0:8443 \(SVC_MTLS_BIND\)$/,
  ],
  [
    'a port that another program has',
    { hub: SILENT },
    'ports',
    'error',
    /^another program has 0.0.0.0:8443 \(SVC_MTLS_BIND\)$/,
  ],
  [
    'too few files for the bound',
    { limits: { ...limits, open_files_max: 1024 } },
    'limits',
    'warning',
    /may have 1024 files open, and SVC_LIMIT_CONNECTIONS lets 16384/,
  ],
  [
    'too few files for the fleet',
    {
      limits: { ...limits, open_files_max: 20_000 },
      ...withStatus({ agentes: { registered: 15_000, atrasado: 0, revoked: 0 } }),
    },
    'limits',
    'error',
    /15000 agents can hold 30000 connections$/,
  ],
  [
    'core dumps',
    { limits: { ...limits, core_bytes_max: 'unlimited' } },
    'core-dumps',
    'warning',
    /core dump of any size to \/usr\/lib\/systemd\/systemd-coredump$/,
  ],
  [
    'a program that gets core dumps',
    { machine: { ...SOUND.machine, corePattern: '|/usr/local/bin/collect %p' } },
    'core-dumps',
    'warning',
    /hands core dumps to \/usr\/local\/bin\/collect/,
  ],
  [
    'swap',
    { limits: { ...limits, swap_bytes_max: 'unlimited' } },
    'swap',
    'warning',
    /swapped out, in plain, to \/dev\/sda2 \(2.0 GiB\)$/,
  ],
  [
    'clocks that are days apart',
    {
      authority: {
        ...authority,
        fault: 'other_time',
        reason: 'certificate has expired',
        clock_ahead_seconds: null,
      },
    },
    'clock',
    'error',
    /^the CA’s certificate is not valid by the hub’s clock$/,
  ],
]

testFaults(
  '[DOC-11] [DOC-12] [DOC-13] [DOC-14] [DOC-15] [DOC-18] [DOC-19] [DOC-24] [DOC-28] svc doctor finds, of the CA, certificates, network and machine,',
  FAULTS,
)
