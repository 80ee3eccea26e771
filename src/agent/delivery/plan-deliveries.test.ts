import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Certificate } from '../../pki/certificates.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import type { ManifestEntry } from '../hub/wire.ts'
import type { InstalledFile } from './installed-file.ts'
import type { InstalledPair } from './installed-pair.ts'
import { planDeliveries, type RoundState } from './plan-deliveries.ts'
import type { ProcessedDelivery } from './processed-store.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const HOUR = 3_600_000

function entry(id: string, fields: Partial<ManifestEntry> = {}): ManifestEntry {
  return {
    deliveryId: id as DeliveryId,
    cargoId: `cargo of ${id}` as CargoId,
    kind: 'csr_cert',
    name: 'site',
    version: 1,
    status: 'pendente',
    ...fields,
  }
}

function record(id: string, fields: Partial<ProcessedDelivery> = {}): ProcessedDelivery {
  return {
    deliveryId: id as DeliveryId,
    cargoId: `cargo of ${id}` as CargoId,
    name: 'site',
    version: 1,
    kind: 'csr_cert',
    mark: 'aa',
    progress: 'done',
    hookEvent: 'installed',
    reportedHookFailure: null,
    cancelled: false,
    ...fields,
  }
}

function pairOf(id: string, hoursLeft = 23, version = 1): InstalledPair {
  const lifetime = {
    serial: 'aa',
    notBefore: new Date(NOW.getTime() - (24 - hoursLeft) * HOUR),
    notAfter: new Date(NOW.getTime() + hoursLeft * HOUR),
  }
  return {
    // The plan looks at nothing else of a certificate.
    leaf: lifetime as Certificate,
    record: {
      delivery_id: id,
      cargo_id: `cargo of ${id}`,
      version,
      request_id: 'r',
      renewal: null,
    },
  }
}

function fileOf(id: string, version = 1): InstalledFile {
  const ids = { delivery_id: id, cargo_id: `cargo of ${id}`, request_id: 'r' }
  return { record: { ...ids, version, sha256: 'aa' } }
}

function plan(state: Partial<RoundState>) {
  const decided = planDeliveries({
    entries: [],
    records: [],
    installed: new Map(),
    failuresWaiting: new Set(),
    now: NOW,
    newCertificates: { isNew: () => false },
    renewalThresholdMs: 6 * HOUR,
    ...state,
  })
  return {
    install: decided.installations.map(({ entry: { deliveryId }, isInPlace }) =>
      isInPlace ? `${deliveryId} in place` : String(deliveryId),
    ),
    fail: decided.failures.map((failure) => String(failure.entry.deliveryId)),
    skip: decided.unknownKinds.map(({ deliveryId }) => String(deliveryId)),
    renew: decided.renewals.map((renewal) => `${renewal.record.deliveryId} ${renewal.trigger}`),
    drop: decided.obsolete.map(String),
  }
}

const NOTHING = { install: [], fail: [], skip: [], renew: [], drop: [] }
function renewed(pair: InstalledPair): InstalledPair {
  const renewal = { old_serial: 'a9', trigger: 'auto_threshold' } as const
  return { ...pair, record: { ...pair.record, renewal } }
}

const sameCargo = { cargoId: 'cargo of a' as CargoId }

describe('[SLD-8] the plan of a round', () => {
  const cases: [
    title: string,
    state: Partial<RoundState>,
    expected: Partial<ReturnType<typeof plan>>,
  ][] = [
    ['an empty manifest needs nothing', {}, {}],
    ['a new delivery is installed', { entries: [entry('a')] }, { install: ['a'] }],
    [
      'a recorded one is not',
      {
        entries: [entry('a')],
        records: [record('a')],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      {},
    ],
    [
      'the same delivery in a later version is installed again',
      {
        entries: [entry('a', { version: 2 })],
        records: [record('a')],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { install: ['a'] },
    ],
    [
      'one whose failure waits to be reported is left alone',
      { entries: [entry('a')], failuresWaiting: new Set(['a']) },
      {},
    ],
    [
      'a pair that is in place without a record is taken up',
      { entries: [entry('a')], installed: new Map([['csr_cert site', pairOf('a')]]) },
      { install: ['a in place'] },
    ],
    [
      'one that has expired is not',
      { entries: [entry('a')], installed: new Map([['csr_cert site', pairOf('a', 0)]]) },
      { install: ['a'] },
    ],
    ['another kind is skipped', { entries: [entry('a', { kind: 'novidade' })] }, { skip: ['a'] }],
    [
      'of two versions of a cargo the newer one is installed',
      { entries: [entry('b', { ...sameCargo, version: 2 }), entry('a')] },
      { install: ['b'] },
    ],
    [
      'an older version than the installed one is left alone',
      {
        entries: [entry('a')],
        records: [record('b', { ...sameCargo, version: 2 })],
        installed: new Map([['csr_cert site', pairOf('b', 23, 2)]]),
      },
      {},
    ],
    [
      '[BKP-20] an older version is installed when the newer one is from before a restore',
      {
        entries: [entry('a')],
        records: [record('b', { ...sameCargo, version: 2, isFromBeforeRestore: true })],
        installed: new Map([['csr_cert site', pairOf('b', 23, 2)]]),
      },
      { install: ['a'] },
    ],
    [
      '[BKP-20] what was installed before a restore is reported again when it is listed',
      {
        entries: [entry('a')],
        records: [record('a', { isFromBeforeRestore: true })],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { install: ['a in place'] },
    ],
    [
      '[BKP-20] and installed again when it was renewed since',
      {
        entries: [entry('a')],
        records: [record('a', { isFromBeforeRestore: true })],
        installed: new Map([['csr_cert site', renewed(pairOf('a'))]]),
      },
      { install: ['a'] },
    ],
    [
      'of two cargoes with one file the second fails',
      { entries: [entry('a'), entry('b', { name: 'SITE' })] },
      { install: ['a'], fail: ['b'] },
    ],
    [
      'a cargo with the file of a recorded one that is listed too fails',
      {
        entries: [entry('b'), entry('a')],
        records: [record('a')],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { fail: ['b'] },
    ],
    [
      'one that is listed no more gives up its file',
      {
        entries: [entry('b')],
        records: [record('a')],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { install: ['b'] },
    ],
    [
      'a cancelled one does so at once',
      {
        entries: [entry('b'), entry('a')],
        records: [record('a', { cancelled: true })],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { install: ['b'] },
    ],
    [
      'a pair and a file of one name do not meet',
      {
        entries: [entry('b', { kind: 'selado' })],
        records: [record('a')],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { install: ['b'] },
    ],
    [
      'a file that is called as a certificate is fails beside it, however it is written',
      {
        entries: [entry('b', { kind: 'selado', name: 'SITE.crt' }), entry('a')],
        records: [record('a')],
        installed: new Map([['csr_cert site', pairOf('a')]]),
      },
      { fail: ['b'] },
    ],
    [
      'a pair whose key a file is called after does so too',
      {
        entries: [entry('b'), entry('a', { kind: 'selado', name: 'site.key' })],
        records: [record('a', { kind: 'selado', name: 'site.key' })],
        installed: new Map([['selado site.key', fileOf('a')]]),
      },
      { fail: ['b'] },
    ],
    [
      'of a pair and a file that would write one file the second fails',
      { entries: [entry('a'), entry('b', { kind: 'selado', name: 'site.key' })] },
      { install: ['a'], fail: ['b'] },
    ],
    [
      'a file that is in place without a record is taken up',
      {
        entries: [entry('a', { kind: 'selado' })],
        installed: new Map([['selado site', fileOf('a')]]),
      },
      { install: ['a in place'] },
    ],
    [
      'of two versions of a file the newer one is installed',
      {
        entries: [
          entry('a', { kind: 'selado' }),
          entry('b', { kind: 'selado', ...sameCargo, version: 2 }),
        ],
      },
      { install: ['b'] },
    ],
    [
      'an older version of a file than the installed one is left alone',
      {
        entries: [entry('a', { kind: 'selado' })],
        records: [record('b', { kind: 'selado', ...sameCargo, version: 2 })],
        installed: new Map([['selado site', fileOf('b', 2)]]),
      },
      {},
    ],
    [
      'a file is not renewed, and had again when it is gone',
      {
        records: [
          record('a', { kind: 'selado' }),
          record('b', { kind: 'selado', name: 'gone' }),
          record('c', { kind: 'selado', name: 'cancelled', cancelled: true }),
        ],
        installed: new Map([['selado site', fileOf('a')]]),
      },
      { renew: ['b delivery'] },
    ],
    [
      'a record whose file a newer delivery has replaced is dropped',
      {
        records: [
          record('a', { kind: 'selado' }),
          record('b', { kind: 'selado', ...sameCargo, version: 2 }),
        ],
        installed: new Map([['selado site', fileOf('b', 2)]]),
      },
      { drop: ['a'] },
    ],
    [
      'a pair near its end is renewed',
      { records: [record('a')], installed: new Map([['csr_cert site', pairOf('a', 1)]]) },
      { renew: ['a auto_threshold'] },
    ],
    ['a pair that is gone is made again', { records: [record('a')] }, { renew: ['a delivery'] }],
    ['a cancelled delivery is not renewed', { records: [record('a', { cancelled: true })] }, {}],
    [
      'a record whose pair a newer delivery has replaced is dropped once the hub lists it no more',
      {
        records: [record('a'), record('b', { ...sameCargo, version: 2 })],
        installed: new Map([['csr_cert site', pairOf('b', 23, 2)]]),
      },
      { drop: ['a'] },
    ],
  ]
  for (const [title, state, expected] of cases) {
    test(title, () => assert.deepEqual(plan(state), { ...NOTHING, ...expected }))
  }

  for (const name of [
    '../x',
    '/etc/x',
    '.x',
    'a/b',
    'a..b',
    'x\0',
    '',
    ' x',
    'é',
    'a'.repeat(129),
  ]) {
    test(`the name ${JSON.stringify(name.slice(0, 12))} fails`, () => {
      assert.deepEqual(plan({ entries: [entry('a', { name })] }), { ...NOTHING, fail: ['a'] })
    })
  }
})
