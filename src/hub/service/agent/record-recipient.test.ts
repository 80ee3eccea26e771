import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent, insertCertificate, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { createEventBudget } from './event-budget.ts'
import { createRecordRecipient, type RecordRecipient } from './record-recipient.ts'

const ONE = 'age1pq1one' as Recipient
const OTHER = 'age1pq1other' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'
const OTHER_FINGERPRINT = 'SHA256:goyPCc0rpKuuIsc0ToTPNWH9qMBHLfhBRviaKtbloPo'

let store: Store & AsyncDisposable
let clock: SettableClock
let recordRecipient: RecordRecipient
let agent: Agent
let identity: IssuedCertificate
let seq: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  clock = createSettableClock(NOW)
  recordRecipient = createWithBudget(1e9)
  agent = await insertAgent(store, `web-${(count += 1)}`)
  identity = await insertCertificate(store, agent.id)
  seq = await lastSeq(store.reader)
})

function createWithBudget(bytesPerDay: number): RecordRecipient {
  const findRoom = async () => 'enough' as const
  return createRecordRecipient(
    store,
    clock,
    createEventBudget({ store, clock, bytesPerDay, findRoom }),
  )
}

const tell = (recipient: Recipient): ReturnType<RecordRecipient> =>
  recordRecipient(agent, recipient, identity.sha256)

/** The answer to a request that has been looked at when this is written. */
async function tellWhile(work: (writer: StoreWriter) => Promise<void>): Promise<object> {
  const written = store.write(work)
  const outcome = tell(ONE)
  await written
  return outcome
}

async function assertNothingChanged(): Promise<void> {
  assert.equal(await store.reader.findRecipient(agent.id), undefined)
  assert.deepEqual(await readActs(store.reader, seq), [])
}

describe('a recipient that an agent tells', () => {
  test('[BLB-3] [BLB-4] is kept in place of the one before, and each change is recorded', async () => {
    assert.deepEqual(await tell(ONE), { ok: true, recipient: ONE })
    assert.deepEqual(await tell(OTHER), { ok: true, recipient: OTHER })
    assert.equal(await store.reader.findRecipient(agent.id), OTHER)
    const base = { actor: 'agent', agente_id: agent.id, hostname: agent.hostname }
    assert.deepEqual(await readActs(store.reader, seq), [
      ['recipient_changed', { ...base, from: null, to: ONE_FINGERPRINT }],
      ['recipient_changed', { ...base, from: ONE_FINGERPRINT, to: OTHER_FINGERPRINT }],
    ])
  })

  test('[BLB-3] [LIM-42] that the hub has already costs nothing and changes nothing', async () => {
    await tell(ONE)
    const { version } = store
    const debt = await store.reader.findEventDebt(agent.id)
    assert.equal(debt?.bytes, 512 + 1024)
    assert.deepEqual(await tell(ONE), { ok: true, recipient: ONE })
    assert.equal(store.version, version)
  })

  test('[LIM-40] [BLB-3] is refused beyond the bytes of a day', async () => {
    recordRecipient = createWithBudget(1000)
    assert.equal((await tell(ONE)).ok, true)
    const { ok, ...refused } = await tell(OTHER)
    assert.equal(ok, false)
    assert.deepEqual(refused, { refusal: 'rate_limited', waitMs: 46_396_800 })
    assert.equal(await store.reader.findRecipient(agent.id), ONE)
  })

  test('[LIM-40] twice at once is charged one after the other: the second is refused', async () => {
    recordRecipient = createWithBudget(1000)
    const both = await Promise.all([tell(ONE), tell(OTHER)])
    assert.deepEqual(
      both.map(({ ok }) => ok),
      [true, false],
    )
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })

  test('[BLB-4] the same twice at once is one change', async () => {
    const both = await Promise.all([tell(ONE), tell(ONE)])
    assert.deepEqual(both, [
      { ok: true, recipient: ONE },
      { ok: true, recipient: ONE },
    ])
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })
})

describe('a recipient is not taken', () => {
  test('[AUT-16] of an agent that is revoked meanwhile, or is gone', async () => {
    const refused = { ok: false, refusal: 'agent_revoked' }
    const revoke = (writer: StoreWriter) => writer.updateAgent({ ...agent, revokedAt: NOW })
    assert.deepEqual(await tellWhile(revoke), refused)
    await assertNothingChanged()
    const id = '00000000-0000-4000-8000-000000000000' as Agent['id']
    assert.deepEqual(await recordRecipient({ ...agent, id }, ONE, identity.sha256), refused)
  })

  test('[AUT-5] by an identity that is revoked meanwhile', async () => {
    const revoke = (writer: StoreWriter) => writer.revokeCertificates(agent.id, NOW)
    assert.deepEqual(await tellWhile(revoke), { ok: false, refusal: 'agent_revoked' })
    await assertNothingChanged()
  })

  test('[BLB-3] [AUT-8] by an identity that another one supersedes, within its minute too', async () => {
    const newer = await insertCertificate(store, agent.id)
    const use = (writer: StoreWriter) => writer.setActiveIdentity(agent.id, newer.seq, LATER)
    assert.deepEqual(await tellWhile(use), { ok: false, refusal: 'certificate_superseded' })
    await assertNothingChanged()
    assert.equal((await recordRecipient(agent, ONE, newer.sha256)).ok, true)
  })

  test('and costs nothing then', async () => {
    await tellWhile((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
    assert.equal(await store.reader.findEventDebt(agent.id), undefined)
  })
})
