// The fleet of `npm run console` is in the trouble that it is said to be in, and a hub believes its vault.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fillTroubledVault } from '../../fleet/troubled-vault.ts'
import { ChainVerifier } from '../../src/audit/hash-chain.ts'
import { openVaultStore, type VaultStore } from '../../src/hub/open-store.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { Secret } from '../../src/platform/secret.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { openAdmin } from '../support/told-admin.ts'

const NOW = new Date('2026-11-22T06:12:31Z')
const DAY_MS = 86_400_000

describe('a fleet in trouble', () => {
  const root = join(tmpdir(), `troubled-${randomUUID()}`)
  let store: VaultStore
  let admin: AdminOperations
  before(async () => {
    const vault = await initCheapVault(root, new Secret('seeded'))
    const options = { hosts: 400, seed: 7, isHostile: true, now: NOW, rootSha256: 'a'.repeat(64) }
    await fillTroubledVault(vault, options, () => undefined)
    const clock = { now: () => NOW, sleep: () => Promise.resolve() }
    store = await openVaultStore(vault, { clock })
    admin = openAdmin(store, { clock, renewalThresholdMs: DAY_MS }).admin
  })
  after(async () => {
    await store.close()
    await rm(root, { recursive: true })
  })

  test('has three hosts that are late and one that has expired, and no other', async () => {
    const found = await store.reader.listLateCertificates({
      now: NOW,
      thresholdMs: DAY_MS,
      limit: 50,
    })
    const late = found.map(({ notAfter }) =>
      Math.round((notAfter.getTime() - NOW.getTime()) / 60_000),
    )
    assert.deepEqual(
      late.toSorted((a, b) => a - b),
      [-72, 47, 91, 178],
    )
  })

  test('has a log whose chain holds, in which acts of the evening stand between what hosts said', async () => {
    const verifier = new ChainVerifier()
    const acts: string[] = []
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100_000 })
    assert.ok(entries.length > 2000)
    for (const entry of entries) {
      verifier.add(entry)
      const { actor } = JSON.parse(entry.payloadText) as { actor?: string }
      if (actor === 'token:oncall') acts.push(entry.eventType)
    }
    assert.equal(verifier.fault, undefined)
    const evening = acts.slice(acts.lastIndexOf('politica_set'))
    assert.ok(evening.includes('freeze_set'), evening.join(' '))
  })

  test('has a rollout under way, with three hosts that fail for one reason, and one that is frozen', async () => {
    const { rollouts } = await admin.listRollouts({})
    const states = rollouts.map(({ nome, state }) => `${nome} ${state}`)
    assert.deepEqual(states.sort(), ['api-tls frozen', 'site running'])
    const { failures } = await admin.showRollout({ rollout: 'site' })
    assert.deepEqual(
      failures.map(({ erro }) => erro),
      Array.from({ length: 3 }, () => 'csr_cn_mismatch'),
    )
  })

  test('has hostile texts where a host may write what it likes', async () => {
    const { freeze } = await admin.showFreeze({})
    assert.match(freeze?.why ?? '', /<script>/)
    const { entregas } = await admin.findDeliveries({ status: ['falhou'], limit: 500 })
    assert.ok(entregas.some(({ erro }) => erro?.includes('<img') === true))
  })

  test('is the same fleet for the same seed and time', async () => {
    const { planTroubledFleet } = await import('../../fleet/troubled-plan.ts')
    const options = { hosts: 100, seed: 3, isHostile: false, now: NOW, rootSha256: '' }
    assert.deepEqual(planTroubledFleet(options).all, planTroubledFleet(options).all)
    const [one, other] = [3, 4].map((seed) => planTroubledFleet({ ...options, seed }).all)
    assert.notDeepEqual(one, other)
  })
})
