// What every Store does with sets of roots and what agents trust: a part of the suite in store-contract.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AgentId } from '../../src/protocol/identifiers.ts'
import type { AgentTrust } from '../../src/hub/domain/root-set.ts'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  LATER,
  newCertificate,
  NOW,
} from './store-samples.ts'
import type { Store } from '../../src/hub/store/store.ts'

export function testRootSets(store: () => Store): void {
  test('the set with the greatest number of the last época is the one in force, and no number comes twice', async () => {
    assert.equal(await store().reader.findRootSet(), undefined)
    for (const [epoch, number] of [
      [1, 1],
      [1, 2],
      [1, 40],
      [2, 1],
      [2, 7],
    ] as const) {
      const set = { epoch, number, pem: `roots ${number}`, createdAt: NOW }
      await store().write((writer) => writer.insertRootSet(set))
      assert.deepEqual(await store().reader.findRootSet(), set)
    }
    const again = { epoch: 2, number: 7, pem: 'others', createdAt: NOW }
    const inserted = store().write((writer) => writer.insertRootSet(again))
    await assert.rejects(inserted, { code: 'store_conflict' })
  })

  test('an agent’s trust is what it said last, until it is forgotten', async () => {
    const { id: agentId } = await insertAgent(store(), 'trusting')
    const set = (trust: AgentTrust): Promise<void> =>
      store().write((writer) => writer.setAgentTrust(trust))
    const first = { agentId, number: null, fingerprints: ['aa'], pinned: ['bb'], error: 'why' }
    await set({ ...first, reportedAt: NOW })
    const last = { agentId, number: 3, fingerprints: ['aa', 'cc'], pinned: null, error: null }
    await set({ ...last, reportedAt: LATER })
    const own = (): Promise<AgentTrust[]> => store().reader.listAgentTrust([agentId])
    assert.deepEqual(await own(), [{ ...last, reportedAt: LATER }])
    await store().write((writer) => writer.removeAgentTrust(agentId))
    assert.deepEqual(await own(), [])
    await assert.rejects(set({ ...last, agentId: randomUUID() as AgentId, reportedAt: NOW }), {
      code: 'store_conflict',
    })
  })

  test('certificates stand while they are the ones in use, of an agent that is let in', async () => {
    const agent = await insertAgent(store(), 'standing')
    const gone = await insertAgent(store(), 'standing-no-more')
    const cargo = await insertCargo(store(), 'standing-site')
    const delivery = await insertDelivery(store(), agent.id, cargo)
    const cancelled = await insertDelivery(store(), agent.id, cargo)
    const insert = (serial: string, more: object = {}) =>
      store().write((writer) =>
        writer.insertCertificate({
          ...newCertificate(agent.id),
          serial,
          rootSha256: `root of ${serial}`,
          ...more,
        }),
      )
    await insert('01')
    const used = await insert('02')
    await insert('03')
    await insert('04', { notAfter: NOW })
    await insert('05', { agentId: gone.id })
    for (const [serial, deliveryId] of [
      ['06', delivery.id],
      ['07', delivery.id],
      ['08', cancelled.id],
    ]) {
      await insert(String(serial), { purpose: 'delivery', deliveryId })
    }
    await store().write(async (writer) => {
      await writer.setActiveIdentity(agent.id, used.seq, NOW)
      await writer.setDeliveryStatus(cancelled.id, 'cancelada', NOW, null)
      await writer.updateAgent({ ...gone, revokedAt: NOW })
    })
    const standing = await store().reader.listStandingCertificates([agent.id, gone.id], NOW)
    assert.deepEqual(
      standing.map(({ deliveryName, serial, rootSha256 }) => [deliveryName, serial, rootSha256]),
      [
        [null, '02', 'root of 02'],
        [null, '03', 'root of 03'],
        ['standing-site', '07', 'root of 07'],
      ],
    )
  })
}
