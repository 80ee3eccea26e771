import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createFakeAuthority, type FakeAuthority } from '../../../test/fakes/fake-authority.ts'
import { append, insertAgent, NOW } from '../../../test/store/store-samples.ts'
import { collectLog } from '../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../test/support/recorded-acts.ts'
import { createSettableClock, type SettableClock } from '../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { parseCsrPem } from '../../pki/csr.ts'
import { CaError } from '../ca/certificate-authority.ts'
import type { Store } from '../store/store.ts'
import {
  obtainCertificate,
  type ObtainedCertificate,
  settleLeftOpen,
  type SigningDependencies,
} from './obtain-certificate.ts'
import { StoreError } from '../store/store-error.ts'
import { recordLeftBefore } from './upkeep/left-open-signings.ts'
import {
  authorityForServer,
  authorityForTrials,
  recordStandingCertificate,
} from './own-certificates.ts'

const CSR = parseCsrPem(makeCsrPem('web.example')) ?? assert.fail()
const WANTED = {
  csr: CSR,
  commonName: 'web.example',
  sans: ['web.example', 'alias.example'],
  request: 'enrollment',
  hostname: 'web.example',
} as const
const ASKED = {
  actor: 'hub',
  hostname: 'web.example',
  names: ['web.example', 'alias.example'],
  request: 'enrollment',
  csr_sha256: CSR.sha256,
  key_sha256: hash('sha256', CSR.publicKeySpki, 'hex'),
}
const AT = NOW.toISOString()

let store: Store & AsyncDisposable
let clock: SettableClock
let authority: FakeAuthority
let signing: SigningDependencies
let seq: number

beforeEach(async () => {
  store = await openTemporaryStore()
  clock = createSettableClock(NOW)
  authority = createFakeAuthority(clock)
  signing = { store, authority, clock, log: collectLog().log }
  seq = await lastSeq(store.reader)
})
afterEach(() => store[Symbol.asyncDispose]())

const acts = () => readActs(store.reader, seq)
const open = () => store.reader.listOpenSignings(10)
const obtain = (): Promise<ObtainedCertificate> => obtainCertificate(signing, WANTED)

describe('[EVD-16] a certificate that the hub asks the CA for', () => {
  test('is durable before the CA is asked, and until a commit says what came of it', async () => {
    const release = authority.hold()
    const underWay = obtain()
    await authority.untilAsked(1)
    assert.deepEqual(
      (await open()).map(({ names, keySha256 }) => [names, keySha256]),
      [[WANTED.sans, ASKED.key_sha256]],
    )
    release()
    const obtained = await underWay
    assert.equal((await open()).length, 1)
    await store.write((writer) => obtained.settle(writer, NOW))
    assert.deepEqual([await open(), await acts()], [[], []])
  })

  test('and that nobody gets is in the log with its serial', async () => {
    const obtained = await obtain()
    await store.write((writer) => obtained.discard(writer, NOW, 'token_expired'))
    const { serial, sha256, notAfter } = obtained.leaf
    const signed = { serial, sha256, not_after: notAfter.toISOString(), purpose: 'none' }
    const payload = { ...ASKED, ...signed, reason: 'token_expired' }
    assert.deepEqual(await acts(), [['certificate_discarded', payload]])
    assert.deepEqual(await open(), [])
  })

  test('and that is not what was asked for is in the log with its serial', async () => {
    const { leaf } = await authority.sign(WANTED)
    authority.failWith(new CaError('wrong_certificate', 'other names', { leaf }))
    await assert.rejects(obtain(), { reason: 'wrong_certificate' })
    const [[type, payload] = assert.fail()] = await acts()
    assert.equal(type, 'certificate_discarded')
    assert.partialDeepStrictEqual(payload, { serial: '1', reason: 'wrong_certificate' })
  })

  test('and whose serial no list can have is lost', async () => {
    const signed = await authority.sign(WANTED)
    const leaf = Object.assign(Object.create(signed.leaf) as typeof signed.leaf, {
      serial: 'f'.repeat(65),
    })
    authority.failWith(new CaError('wrong_certificate', 'other names', { leaf }))
    await assert.rejects(obtain(), { reason: 'wrong_certificate' })
    const lost = { ...ASKED, asked_at: AT, reason: 'wrong_certificate' }
    assert.deepEqual(await acts(), [['certificate_answer_lost', lost]])
  })

  test('and of which the answer was lost is in the log with its key, and no serial', async () => {
    const lost = { ...ASKED, asked_at: AT }
    authority.failWith(new CaError('timeout', 'no answer', { isAnswerLost: true }))
    await assert.rejects(obtain(), { reason: 'timeout' })
    assert.deepEqual(await acts(), [['certificate_answer_lost', { ...lost, reason: 'timeout' }]])
    assert.deepEqual(await open(), [])
  })

  test('and that the CA refused, or never saw, leaves nothing', async () => {
    for (const reason of ['refused', 'unreachable', 'overloaded'] as const) {
      authority.failWith(new CaError(reason, 'no'))
      await assert.rejects(obtain(), { reason })
    }
    assert.deepEqual([await acts(), await open()], [[], []])
  })

  test('is in the log after the hub was killed before it had recorded the answer', async () => {
    await obtain()
    clock.pass(3_600_000)
    assert.deepEqual([(await open()).length, await acts()], [1, []])
    await settleLeftOpen(signing)
    const payload = { ...ASKED, asked_at: AT, reason: 'not_recorded' }
    assert.deepEqual(await acts(), [['certificate_answer_lost', payload]])
    await settleLeftOpen(signing)
    assert.equal((await acts()).length, 1)
  })

  test('by hundreds that were left are all in the log', async () => {
    await Promise.all(Array.from({ length: 250 }, obtain))
    await settleLeftOpen(signing)
    assert.deepEqual([(await acts()).length, await open()], [250, []])
  })

  test('is asked for all the same when its failure cannot be written, and settled later', async () => {
    let writes = 0
    const failing: Store = {
      ...store,
      reader: store.reader,
      write: async (work, company) => {
        if ((writes += 1) > 1) throw new Error('the disk is full')
        return store.write(work, company)
      },
    }
    authority.failWith(new CaError('timeout', 'no answer', { isAnswerLost: true }))
    const failed = obtainCertificate({ ...signing, store: failing }, WANTED)
    await assert.rejects(failed, { reason: 'timeout' })
    await settleLeftOpen(signing)
    assert.equal((await acts())[0]?.[0], 'certificate_answer_lost')
  })
})

describe('[EVD-15] a certificate of the hub itself', () => {
  const request = { csr: CSR, commonName: 'hub.example', sans: ['hub.example'] }

  test('is in the log before anybody has it', async () => {
    const { leaf } = await authorityForServer(signing).sign(request)
    const payload = {
      actor: 'hub',
      names: ['hub.example'],
      serial: leaf.serial,
      sha256: leaf.sha256,
      csr_sha256: CSR.sha256,
      not_after: leaf.notAfter.toISOString(),
      purpose: 'server',
      request: 'server',
    }
    assert.deepEqual(await acts(), [['server_certificate_issued', payload]])
    assert.deepEqual(await open(), [])
  })

  test('is not in the log again when the hub starts with it', async () => {
    const { leaf } = await authorityForServer(signing).sign(request)
    await recordStandingCertificate(store, NOW, leaf, ['hub.example'])
    assert.equal((await acts()).length, 1)
  })

  test('is not used when the log cannot have it', async () => {
    let writes = 0
    const full: Store = {
      ...store,
      write: async (work) => {
        if ((writes += 1) > 1) throw new Error('the disk is full')
        return store.write(work)
      },
    }
    const failed = authorityForServer({ ...signing, store: full }).sign(request)
    await assert.rejects(failed, { message: 'the disk is full' })
    assert.equal((await open()).length, 1)
  })

  test('on trial is in the log, whatever comes of the trial', async () => {
    const { leaf } = await authorityForTrials(signing).sign(request)
    const [[type, payload] = assert.fail()] = await acts()
    assert.equal(type, 'certificate_discarded')
    assert.partialDeepStrictEqual(payload, {
      serial: leaf.serial,
      request: 'trial',
      reason: 'trial',
    })
  })

  test('that an earlier version obtained is in the log once', async () => {
    const { leaf } = await authority.sign(request)
    await recordStandingCertificate(store, NOW, leaf, ['hub.example'])
    const { id: agentId } = await insertAgent(store, 'web.example')
    for (let count = 0; count < 20; count += 1) {
      await append(store, { agentId, eventType: 'server_certificate_issued' })
    }
    await recordStandingCertificate(store, NOW, leaf, ['hub.example'])
    const all = await acts()
    assert.equal(all.length, 1 + 20)
    assert.partialDeepStrictEqual(all[0]?.[1], { sha256: leaf.sha256, request: 'earlier' })
  })

  test('keeps no hub from its start on a full disk, and is in the log at the next', async () => {
    const { leaf } = await authority.sign(request)
    const start = (write: Store['write']) =>
      recordLeftBefore({ ...signing, store: { ...store, reader: store.reader, write } }, leaf, [])
    const full = new StoreError('store_unavailable', 'database or disk is full')
    await start(() => Promise.reject(full))
    assert.deepEqual(await acts(), [])
    await start((work) => store.write(work))
    assert.equal((await acts()).length, 1)
    const worse = new StoreError('store_corrupt', 'the database is damaged')
    await obtain()
    await assert.rejects(
      start(() => Promise.reject(worse)),
      worse,
    )
  })
})
