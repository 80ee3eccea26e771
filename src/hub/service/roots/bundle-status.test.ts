import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  LATER,
  newCertificate,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AgentTrust } from '../../domain/root-set.ts'
import type { Store } from '../../store/store.ts'
import { describeBundle } from './bundle-status.ts'

const DAY_MS = 86_400_000

let old: Certificate
let next: Certificate
let expired: Certificate

before(async () => {
  old = await createSampleRoot('Old', new Date(NOW.getTime() + DAY_MS))
  next = await createSampleRoot('Next', new Date(NOW.getTime() + 2 * DAY_MS))
  expired = await createSampleRoot('Expired', NOW)
})

/** With these roots in force, as set 4 of época 2. */
async function withRoots(
  roots: readonly Certificate[],
  work: (store: Store) => Promise<void>,
): Promise<void> {
  await using store = await openTemporaryStore()
  const pem = roots.map((root) => root.pem).join('')
  await store.write((writer) => writer.insertRootSet({ epoch: 2, number: 4, pem, createdAt: NOW }))
  await work(store)
}

function trust(store: Store, agentId: Agent['id'], said: Partial<AgentTrust>): Promise<void> {
  const none = { number: 4, fingerprints: [], pinned: null, error: null, reportedAt: LATER }
  return store.write((writer) => writer.setAgentTrust({ agentId, ...none, ...said }))
}

describe('[TRU-13] svc bundle status', () => {
  test('shows each root: until when it is valid, and whether the hub’s own certificate leads to it', () =>
    withRoots([old, expired], async ({ reader }) => {
      const { roots, ...rest } = await describeBundle(reader, NOW, {
        fileRoots: [expired, old],
        serverRoot: old,
      })
      assert.deepEqual(roots, [
        {
          fingerprint: old.sha256,
          subject: 'CN=Old',
          not_before: '2026-11-12T10:00:00.000Z',
          not_after: '2026-11-22T10:00:00.000Z',
          is_valid: true,
          is_hubs_own: true,
          certificados: 0,
        },
        {
          fingerprint: expired.sha256,
          subject: 'CN=Expired',
          not_before: '2026-11-11T10:00:00.000Z',
          not_after: '2026-11-21T10:00:00.000Z',
          is_valid: false,
          is_hubs_own: false,
          certificados: 0,
        },
      ])
      assert.deepEqual(rest, {
        numero: 4,
        epoca: 2,
        created_at: '2026-11-21T10:00:00.123Z',
        certificados_unknown: 0,
        file_differs: false,
        agentes: 0,
        pendentes: [],
      })
    }))

  test('counts the certificates in use of each root, and those of which nobody knows it', () =>
    withRoots([old, next], async (store) => {
      const [agent, revoked] = [await insertAgent(store, 'web-1'), await insertAgent(store, 'gone')]
      const { id } = await insertDelivery(store, agent.id, await insertCargo(store, 'site'))
      await store.write(async (writer) => {
        for (const [of, rootSha256] of [
          [agent, old.sha256],
          [agent, old.sha256],
          [agent, null],
          [revoked, old.sha256],
        ] as const) {
          await writer.insertCertificate({ ...newCertificate(of.id), rootSha256 })
        }
        const delivered = { purpose: 'delivery', deliveryId: id, rootSha256: next.sha256 } as const
        await writer.insertCertificate({ ...newCertificate(agent.id), ...delivered })
        await writer.updateAgent({ ...revoked, revokedAt: NOW })
      })
      const bundle = await describeBundle(store.reader, NOW, undefined)
      assert.deepEqual(
        bundle.roots.map(({ certificados }) => certificados),
        [2, 1],
      )
      assert.deepEqual([bundle.certificados_unknown, bundle.agentes], [1, 1])
      const later = await describeBundle(store.reader, LATER, undefined)
      assert.deepEqual(
        later.roots.map(({ certificados }) => certificados),
        [0, 0],
        'they have expired by then',
      )
    }))

  test('[TRU-12] names the agents that have not said that they trust exactly this, and what they said last', () =>
    withRoots([old, next], async (store) => {
      const names = ['adopted', 'file', 'refused', 'silent', 'revoked']
      const [adopted, file, refused, silent, revoked] = await Promise.all(
        names.map((name) => insertAgent(store, name)),
      )
      assert.ok(adopted && file && refused && silent && revoked)
      const all = [next.sha256, old.sha256]
      await trust(store, adopted.id, { fingerprints: all })
      await trust(store, file.id, { fingerprints: all, pinned: [old.sha256] })
      await trust(store, refused.id, { number: null, fingerprints: [old.sha256], error: 'no' })
      await store.write((writer) => writer.updateAgent({ ...revoked, revokedAt: NOW }))
      const { pendentes, agentes } = await describeBundle(store.reader, NOW, undefined)
      assert.equal(agentes, 4)
      const reported_at = '2026-11-21T11:00:00.000Z'
      assert.deepEqual(pendentes, [
        { id: file.id, hostname: 'file', numero: 4, is_pinned: true, erro: null, reported_at },
        {
          id: refused.id,
          hostname: 'refused',
          numero: null,
          is_pinned: false,
          erro: 'no',
          reported_at,
        },
        {
          id: silent.id,
          hostname: 'silent',
          numero: null,
          is_pinned: false,
          erro: null,
          reported_at: null,
        },
      ])
    }))

  test('[TRU-10] says whether the file has other roots, and nothing when nobody can read it', () =>
    withRoots([old], async ({ reader }) => {
      const differs = async (fileRoots: Certificate[] | undefined): Promise<boolean | null> =>
        (await describeBundle(reader, NOW, { fileRoots, serverRoot: undefined })).file_differs
      assert.equal(await differs([old, next]), true)
      assert.equal(await differs([]), true)
      assert.equal(await differs([old, old]), false)
      assert.equal(await differs(undefined), null)
      assert.equal((await describeBundle(reader, NOW, undefined)).file_differs, null)
    }))

  test('[TRU-1] is refused for a vault that no hub has run with', async () => {
    await using store = await openTemporaryStore()
    await assert.rejects(describeBundle(store.reader, NOW, undefined), {
      code: 'no_bundle',
      message: 'this vault has no roots yet',
    })
  })
})

test('[TRU-13] it counts what each agent has, and reads the rows of those alone that have not adopted', () =>
  withRoots([old, next], async (store) => {
    const names = Array.from({ length: 12 }, (_, index) => `web-${index}`)
    const agents: Agent[] = []
    for (const name of names) agents.push(await insertAgent(store, name))
    const cargo = await insertCargo(store, 'site')
    for (const [index, agent] of agents.entries()) {
      const rootSha256 = index % 2 === 0 ? old.sha256 : next.sha256
      const delivery = await insertDelivery(store, agent.id, cargo)
      await store.write(async (writer) => {
        // The first ones were never used, the last ones were renewed, the fourth has one that it has yet to use.
        for (let issued = 0; issued < 3; issued += 1) {
          const made = { ...newCertificate(agent.id), rootSha256 }
          const { seq } = await writer.insertCertificate(made)
          const isUsed = issued < 2 || index > 8
          if (index < 3 || !isUsed) continue
          await writer.setCertificateFirstUsed(made.sha256, NOW)
          await writer.setActiveIdentity(agent.id, seq, NOW)
        }
        const delivered = {
          purpose: 'delivery',
          deliveryId: delivery.id,
          rootSha256: null,
        } as const
        for (let issued = 0; issued < 2; issued += 1) {
          await writer.insertCertificate({ ...newCertificate(agent.id), ...delivered })
        }
        const status = (['pendente', 'em_andamento', 'instalada', 'entregue', 'falhou'] as const)[
          index
        ]
        if (status !== undefined) await writer.setDeliveryStatus(delivery.id, status, NOW, null)
        if (index === 11) await writer.updateAgent({ ...agent, revokedAt: NOW })
      })
      if (index > 1) await trust(store, agent.id, { fingerprints: [old.sha256, next.sha256] })
    }
    const called = new Set<string | symbol>()
    const { reader } = store
    const noting = new Proxy(reader, {
      get: (target, name) => {
        called.add(name)
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const bundle = await describeBundle(noting, NOW, undefined)
    assert.deepEqual(called, new Set(['findRootSet', 'countAgents', 'summary']))
    assert.deepEqual(
      bundle.pendentes.map(({ hostname }) => hostname),
      ['web-0', 'web-1'],
    )
    const { said } = await reader.summary.listTrustBeside({
      adopted: [{ fingerprints: [old.sha256, next.sha256], pinned: null }],
      number: undefined,
      after: undefined,
      limit: 100,
    })
    assert.deepEqual(said, [])
    const ids = agents.map(({ id }) => id)
    const standing = await reader.listStandingCertificates(ids, NOW)
    const ofRoot = (root: string | null): number =>
      standing.filter(({ rootSha256 }) => rootSha256 === root).length
    assert.deepEqual(
      [...bundle.roots.map(({ certificados }) => certificados), bundle.certificados_unknown],
      [ofRoot(old.sha256), ofRoot(next.sha256), ofRoot(null)],
    )
    assert.ok(ofRoot(old.sha256) > 6 && ofRoot(null) === 11)
  }))
