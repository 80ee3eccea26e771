import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { CaError, type CertificateAuthority } from '../ca/certificate-authority.ts'
import { createCaCalls } from './ca-calls.ts'
import { createHubHealth, type HubHealth } from './hub-health.ts'

const START_MS = Date.parse('2026-11-21T10:00:00Z')
const HOUR_MS = 3_600_000

let nowMs = START_MS
const clock = { now: () => new Date(nowMs), sleep: () => Promise.resolve() }

const REQUEST = {} as Parameters<CertificateAuthority['sign']>[0]

const reasonsOf = async (health: HubHealth): Promise<unknown[]> =>
  (await health.describe()).subsystems
    .filter(({ ready }) => !ready)
    .map(({ name, since }) => [name, since])

describe('[API-40] the health of a hub', () => {
  test('has since when the CA fails: from the first failure after the last success', async () => {
    await using store = await openTemporaryStore()
    nowMs = START_MS
    let fault: CaError | undefined
    const calls = createCaCalls(clock)
    const silent: CertificateAuthority = {
      rootPem: '',
      revoke: () => Promise.reject(new Error('not asked')),
      sign: () => (fault === undefined ? Promise.resolve({} as never) : Promise.reject(fault)),
    }
    const authority = calls.watch(silent)
    const health = createHubHealth({
      clock,
      reader: store.reader,
      caCalls: calls,
      vaultRoot: '/',
      freeSpaceFloorBytes: Number.POSITIVE_INFINITY,
      certificate: () => ({ notBefore: clock.now(), notAfter: new Date(nowMs + HOUR_MS) }),
    })
    await authority.sign(REQUEST)
    assert.deepEqual([(await health.describe()).ready, await reasonsOf(health)], [true, []])
    fault = new CaError('unreachable', 'gone', { variable: 'SVC_CA_URL' })
    for (let minute = 1; minute <= 3; minute += 1) {
      nowMs = START_MS + minute * 60_000
      await assert.rejects(authority.sign(REQUEST))
    }
    assert.deepEqual(await reasonsOf(health), [['ca', '2026-11-21T10:01:00.000Z']])
    const { ca } = await health.checkReadiness()
    assert.equal(ca?.reason, 'the last call, 0s ago, ended as unreachable; SVC_CA_URL may be wrong')
    fault = undefined
    await authority.sign(REQUEST)
    assert.deepEqual(await reasonsOf(health), [])
  })

  test('has since when it saw first that its certificate has ended, and remarks one that is renewed late', async () => {
    await using store = await openTemporaryStore()
    nowMs = START_MS
    let notAfterMs = START_MS + HOUR_MS
    const health = createHubHealth({
      clock,
      reader: store.reader,
      caCalls: { last: undefined },
      vaultRoot: '/',
      freeSpaceFloorBytes: Number.POSITIVE_INFINITY,
      certificate: () => ({
        notBefore: new Date(notAfterMs - HOUR_MS),
        notAfter: new Date(notAfterMs),
      }),
    })
    assert.deepEqual((await health.describe()).remarks, [])
    nowMs = START_MS + 51 * 60_000
    assert.deepEqual((await health.describe()).remarks, [
      'the hub’s own certificate ends at 2026-11-21T11:00:00.000Z and is renewed late',
    ])
    notAfterMs = nowMs
    assert.deepEqual(await reasonsOf(health), [['certificate', '2026-11-21T10:51:00.000Z']])
    nowMs += 60_000
    assert.deepEqual(await reasonsOf(health), [['certificate', '2026-11-21T10:51:00.000Z']])
  })
})
