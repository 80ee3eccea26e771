import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createFakeAuthority, type FakeAuthority } from '../../../../test/fakes/fake-authority.ts'
import { NOW } from '../../../../test/store/store-samples.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Clock } from '../../../platform/clock.ts'
import { parseCsrPem } from '../../../pki/csr.ts'
import type { Store } from '../../store/store.ts'
import { obtainCertificate, type SigningDependencies } from '../obtain-certificate.ts'
import { watchLeftOpen } from './left-open-signings.ts'

const MINUTE_MS = 60_000
const WANTED = {
  csr: parseCsrPem(makeCsrPem('web.example')) ?? assert.fail(),
  commonName: 'web.example',
  sans: ['web.example'],
  request: 'renewal',
  hostname: 'web.example',
} as const

let store: Store & AsyncDisposable
let authority: FakeAuthority
let signing: SigningDependencies
let now: Date
let seq: number

beforeEach(async () => {
  store = await openTemporaryStore()
  now = NOW
  const clock: Clock = { now: () => now, sleep: () => Promise.resolve() }
  authority = createFakeAuthority(clock)
  signing = { store, authority, clock, log: collectLog().log }
  seq = await lastSeq(store.reader)
})
afterEach(() => store[Symbol.asyncDispose]())

const typesOf = async (): Promise<string[]> =>
  (await readActs(store.reader, seq)).map(([type]) => type)

/** So many rounds, of which each is a minute of the clock on the wall, unless `at` sets that clock. */
async function watch(rounds: number, at: (round: number) => Date): Promise<void> {
  const stop = new AbortController()
  let round = 0
  const clock: Clock = {
    now: () => now,
    sleep: async (durationMs) => {
      assert.equal(durationMs, MINUTE_MS)
      if ((round += 1) > rounds) stop.abort()
      now = at(round)
    },
  }
  await watchLeftOpen({ ...signing, clock }, stop.signal)
}

const minutes = (count: number): Date => new Date(NOW.getTime() + count * MINUTE_MS)

describe('[EVD-16] a request of which nobody wrote down the answer', () => {
  test('is lost after five minutes', async () => {
    await obtainCertificate(signing, WANTED)
    await watch(5, minutes)
    assert.deepEqual(await typesOf(), [])
    await watch(7, minutes)
    assert.deepEqual(await typesOf(), ['certificate_answer_lost'])
  })

  test('is lost as soon when the clock is set back', async () => {
    await obtainCertificate(signing, WANTED)
    await watch(7, (round) => minutes(round - 600))
    assert.deepEqual(await typesOf(), ['certificate_answer_lost'])
  })

  test('is not one that is under way while the clock is set forward, as after a sleep', async () => {
    const release = authority.hold()
    const underWay = obtainCertificate(signing, WANTED)
    await authority.untilAsked(1)
    await watch(2, (round) => minutes(round + 600))
    release()
    const obtained = await underWay
    await store.write((writer) => obtained.settle(writer, now))
    assert.deepEqual(await typesOf(), [])
  })
})
