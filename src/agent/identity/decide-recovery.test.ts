import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideRecovery, type RecoveryFacts } from './decide-recovery.ts'

const NOON = new Date('2026-01-01T12:00:00Z')
const EARLIER = new Date('2026-01-01T11:00:00Z')
const LATER = new Date('2026-01-01T13:00:00Z')

const DAWN = new Date('2026-01-01T06:00:00Z')
const NIGHT = new Date('2026-01-01T05:00:00Z')

describe('[REC-3] [REC-8] whether an identity from dawn to noon has to be recovered', () => {
  const quiet: RecoveryFacts = {
    notBefore: DAWN,
    notAfter: NOON,
    hubNow: undefined,
    hubSaidExpired: false,
    isHandshakeFailing: false,
  }
  const cases: [title: string, facts: Partial<RecoveryFacts>, reason: string | undefined][] = [
    ['when the hub says so', { hubSaidExpired: true }, 'expired, says the hub'],
    [
      'when the hub says so, though its clock does not',
      { hubSaidExpired: true, hubNow: EARLIER },
      'expired, says the hub',
    ],
    [
      'when the handshake fails at noon for the hub',
      { isHandshakeFailing: true, hubNow: NOON },
      'expired by the hub’s clock',
    ],
    [
      'when the handshake fails and it is past noon for the hub',
      { isHandshakeFailing: true, hubNow: LATER },
      'expired by the hub’s clock',
    ],
    [
      'not when the handshake fails before noon',
      { isHandshakeFailing: true, hubNow: EARLIER },
      undefined,
    ],
    [
      'not when the handshake fails and nobody knows the hub’s time',
      { isHandshakeFailing: true },
      undefined,
    ],
    [
      'when the handshake fails and it is not dawn yet for the hub',
      { isHandshakeFailing: true, hubNow: NIGHT },
      'not valid yet by the hub’s clock',
    ],
    [
      'not when the handshake fails at dawn for the hub',
      { isHandshakeFailing: true, hubNow: DAWN },
      undefined,
    ],
    ['not while the hub answers, though it is not dawn yet for it', { hubNow: NIGHT }, undefined],
    ['not while the hub answers, whatever its clock says', { hubNow: LATER }, undefined],
  ]
  for (const [title, facts, reason] of cases) {
    test(title, () => assert.equal(decideRecovery({ ...quiet, ...facts }), reason))
  }
})
