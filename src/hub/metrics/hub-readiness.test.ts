import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GENESIS_HASH, hashEntry } from '../../audit/hash-chain.ts'
import type { EntryId } from '../../protocol/identifiers.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import { decideReadiness, type ReadinessFacts } from './hub-readiness.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const minutesAgo = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000)

function entryAfter(previousHash: string, seq: number): AuditEntry {
  const timestamp = '2026-11-21T09:00:00.000000Z'
  return {
    seq,
    id: 'e' as EntryId,
    agentId: null,
    eventType: 't',
    payloadText: '{}',
    deliveryId: null,
    requestId: null,
    timestamp,
    previousHash,
    hash: hashEntry(previousHash, '{}', timestamp),
  }
}

const FIRST = entryAfter(GENESIS_HASH, 1)
const SECOND = entryAfter(FIRST.hash, 2)
const GOOD: ReadinessFacts = {
  now: NOW,
  lastEntries: [FIRST, SECOND],
  freeBytes: 100,
  floorBytes: 100,
  lastCaCall: { outcome: 'ok', at: minutesAgo(1) },
  serverNotAfter: new Date(NOW.getTime() + 1),
}

const notReadyOf = (facts: Partial<ReadinessFacts>): string[] =>
  Object.entries(decideReadiness({ ...GOOD, ...facts }))
    .filter(([, { isReady }]) => !isReady)
    .map(([name]) => name)

describe('[MET-3] [MET-6] a hub', () => {
  const ready: readonly [what: string, facts: Partial<ReadinessFacts>][] = [
    ['when all is well', {}],
    ['with an empty log', { lastEntries: [] }],
    ['with a log of one entry', { lastEntries: [FIRST] }],
    ['before its first call to the CA', { lastCaCall: undefined }],
    ['whose CA refused a request', { lastCaCall: { outcome: 'refused', at: NOW } }],
    ['whose CA failed long ago', { lastCaCall: { outcome: 'timeout', at: minutesAgo(16) } }],
    ['without a floor of free space', { freeBytes: 0, floorBytes: 0 }],
  ]
  for (const [what, facts] of ready) {
    test(`is ready ${what}`, () => assert.deepEqual(notReadyOf(facts), []))
  }

  const faulty: readonly [what: string, subsystems: string[], facts: Partial<ReadinessFacts>][] = [
    ['whose database fails', ['store', 'audit'], { lastEntries: new Error('disk I/O error') }],
    ['without space', ['store'], { freeBytes: 99 }],
    ['whose vault is gone', ['store'], { freeBytes: new Error('ENOENT') }],
    ['whose CA is away', ['ca'], { lastCaCall: { outcome: 'unreachable', at: minutesAgo(14) } }],
    [
      'whose CA does not know its key',
      ['ca'],
      { lastCaCall: { outcome: 'refused', at: NOW, variable: 'SVC_CA_PROVISIONER_KEY' } },
    ],
    ['that waits for its first certificate', ['certificate'], { serverNotAfter: undefined }],
    ['whose CA lies', ['ca'], { lastCaCall: { outcome: 'wrong_certificate', at: NOW } }],
    ['with an expired certificate', ['certificate'], { serverNotAfter: NOW }],
    [
      'with an entry that was changed',
      ['audit'],
      { lastEntries: [FIRST, { ...SECOND, payloadText: '{"a":1}' }] },
    ],
    [
      'with an entry that follows another',
      ['audit'],
      { lastEntries: [SECOND, entryAfter(FIRST.hash, 3)] },
    ],
    [
      'whose first entry has one before it',
      ['audit'],
      { lastEntries: [entryAfter(FIRST.hash, 1)] },
    ],
  ]
  for (const [what, subsystems, facts] of faulty) {
    test(`${what} is not ready`, () => assert.deepEqual(notReadyOf(facts), subsystems))
  }

  test('says why, with the age of the last call', () => {
    const facts = { lastCaCall: { outcome: 'timeout', at: minutesAgo(2) } } as const
    assert.deepEqual(decideReadiness({ ...GOOD, ...facts })['ca'], {
      isReady: false,
      reason: 'the last call, 2m ago, ended as timeout',
    })
  })
})
