// What a commit says about which agent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store, StoreWriter } from '../../src/hub/store/store.ts'
import {
  insertAgent,
  insertDelivery,
  LATER,
  newAgent,
  newCargo,
  newCertificate,
  newContent,
  NOW,
} from './store-samples.ts'
import { newAccessToken } from './store-contract-admin.ts'

export function testVersions(store: () => Store): void {
  test('a commit about one agent says nothing about another, and a commit about many says something about all', async () => {
    const { id } = await insertAgent(store(), 'changing')
    const other = (await insertAgent(store(), 'same')).id
    const certificate = newCertificate(id)
    const cargo = newCargo('site')
    await store().write((writer) => writer.insertCargo(cargo))
    const delivery = await insertDelivery(store(), id, cargo)
    const token = newAccessToken(LATER)
    await store().write((writer) => writer.insertAccessToken(token))
    const changedBy = async (change: (writer: StoreWriter) => Promise<unknown>) => {
      const { version } = store()
      await store().write(change)
      return [id, other].map((each) => store().versionOf(each) > version)
    }
    const ofOne: readonly ((writer: StoreWriter) => Promise<unknown>)[] = [
      (writer) => writer.insertCertificate(certificate),
      (writer) => writer.setCertificateFirstUsed(certificate.sha256, NOW),
      (writer) => writer.setActiveIdentity(id, 1, NOW),
      (writer) => writer.setDeliveryStatus(delivery.id, 'em_andamento', NOW, null),
      (writer) => writer.setCertificateDelivered(certificate.sha256, delivery.id),
      (writer) => writer.revokeCertificates(id, NOW),
      (writer) => writer.setAgentCertificate(id, 'PEM'),
      async (writer) => {
        const agent = await writer.findAgentById(id)
        assert.ok(agent)
        await writer.updateAgent({ ...agent, revokedAt: NOW })
      },
    ]
    for (const change of ofOne) {
      assert.deepEqual(await changedBy(change), [true, false], change.toString())
    }
    const ofAll: typeof ofOne = [
      (writer) => writer.updateCargo({ ...cargo, version: 2 }),
      (writer) => writer.cancelDeliveries([delivery.id], NOW),
      (writer) => writer.setContent(cargo.id, newContent(1)),
    ]
    for (const change of ofAll) {
      assert.deepEqual(await changedBy(change), [true, true], change.toString())
    }
    const ofNone: typeof ofOne = [
      (writer) => writer.insertAgent(newAgent('a third')),
      (writer) => writer.setAgentSeen(id, NOW),
      (writer) => writer.setAccessTokenUsed(token.hash, LATER),
    ]
    for (const change of ofNone) {
      assert.deepEqual(await changedBy(change), [false, false], change.toString())
    }
    assert.deepEqual(
      await changedBy(async (writer) => {
        await writer.setActiveIdentity(id, 2, NOW)
        await writer.updateCargo({ ...cargo, version: 3 })
      }),
      [true, true],
    )
  })
}
