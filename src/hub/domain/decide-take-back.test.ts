import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { IdentityReceipt } from '../../audit/identity-receipt.ts'
import type { AgentId, TokenHash } from '../../protocol/identifiers.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import {
  decideReceipt,
  decideTakeBack,
  isTakingBack,
  type ReceiptFacts,
  type TakeBackFacts,
} from './decide-take-back.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

const day = (days: number): Date => new Date(Date.UTC(2030, 0, 1) + days * 86_400_000)
const AGENT = newAgent('web-1')
const RESTORE = { backupAt: day(10), at: day(17) }
const RECEIPT: IdentityReceipt = {
  origin: 'cartorio/v',
  at: day(11),
  agentId: AGENT.id,
  hostname: 'web-1',
  role: 'web',
  enrolledWith: AGENT.enrolledWith,
  sha256: 'a'.repeat(64),
}
const IDENTITY = { notBefore: day(9) } as IssuedCertificate

test('[BKP-16] identities are taken back for 30 days after a restore, and never without one', () => {
  assert.equal(isTakingBack(undefined, day(17)), false)
  assert.equal(isTakingBack(RESTORE, day(47)), true)
  assert.equal(isTakingBack(RESTORE, day(47.001)), false)
})

describe('[BKP-16] a receipt, by what it says', () => {
  const facts: ReceiptFacts = {
    receipt: RECEIPT,
    sha256: RECEIPT.sha256,
    restore: RESTORE,
    origin: 'cartorio/v/2',
  }
  test('is looked at', () => assert.deepEqual(decideReceipt(facts), { ok: true }))

  const cases: readonly [Partial<ReceiptFacts>, string][] = [
    [{ sha256: 'b'.repeat(64) }, 'the receipt is of another certificate'],
    [{ origin: 'cartorio/v' }, 'the receipt is of this epoch'],
    [{ receipt: { ...RECEIPT, at: day(10) } }, 'the receipt is older than the backup'],
  ]
  for (const [change, reason] of cases) {
    test(`is refused: ${reason}`, () => {
      assert.deepEqual(decideReceipt({ ...facts, ...change }), { ok: false, reason })
    })
  }
})

describe('[BKP-17] an identity with a good receipt', () => {
  const facts: TakeBackFacts = {
    receipt: RECEIPT,
    notBefore: day(11),
    agent: AGENT,
    holder: AGENT,
    enrolledAt: day(1),
    newest: IDENTITY,
  }
  const other = { ...AGENT, enrolledWith: 'b'.repeat(64) as TokenHash }
  const good: readonly [string, Partial<TakeBackFacts>][] = [
    ['that the agent renewed after the backup', {}],
    ['of an agent that enrolled after the backup', { agent: undefined, holder: undefined }],
    ['of an agent that had none', { newest: undefined }],
    ['of the enrolment that the vault knows, whatever the clocks say', { enrolledAt: day(18) }],
    ['of an enrolment later than the one that the vault knows', { agent: other }],
  ]
  for (const [what, change] of good) {
    test(`is taken back, ${what}`, () => {
      assert.deepEqual(decideTakeBack({ ...facts, ...change }), { ok: true })
    })
  }

  const revoked = { ...AGENT, revokedAt: day(18) }
  const cases: readonly [Partial<TakeBackFacts>, string][] = [
    [{ agent: revoked, holder: revoked }, 'the agent is revoked'],
    [{ agent: { ...revoked, removedAt: day(18) }, holder: undefined }, 'the agent was removed'],
    [{ holder: { ...AGENT, id: 'other' as AgentId } }, 'another agent has the hostname'],
    [
      { agent: undefined, holder: { ...AGENT, id: 'other' as AgentId } },
      'another agent has the hostname',
    ],
    [
      { receipt: { ...RECEIPT, hostname: 'web-2' }, holder: undefined },
      'the agent has another hostname',
    ],
    [{ agent: other, enrolledAt: day(18) }, 'the host has enrolled again since'],
    [{ newest: { ...IDENTITY, notBefore: day(11.5) } }, 'the hub knows a newer identity'],
  ]
  for (const [change, reason] of cases) {
    test(`stays out: ${reason}`, () => {
      assert.deepEqual(decideTakeBack({ ...facts, ...change }), { ok: false, reason })
    })
  }
})
