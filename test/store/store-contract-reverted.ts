// Targets that hosts have put back, as every Store keeps them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '../../src/hub/domain/delivery.ts'
import type { RevertedTarget } from '../../src/hub/domain/reverted-target.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { insertAgent, insertCargo, insertDelivery, LATER, NOW } from './store-samples.ts'

const RULE = { now: NOW, thresholdMs: 1 }

export function testRevertedTargets(store: () => Store): void {
  const insert = async (hostname: string): Promise<Delivery> => {
    const agent = await insertAgent(store(), hostname)
    const delivery = await insertDelivery(store(), agent.id, await insertCargo(store(), hostname))
    await setStatus(delivery, 'instalada')
    return delivery
  }
  const setStatus = (delivery: Delivery, status: Delivery['status']): Promise<void> =>
    store().write((writer) => writer.setDeliveryStatus(delivery.id, status, NOW, null))
  const put = (delivery: Delivery, target: string, error = 'why', since = NOW): Promise<void> => {
    const { id: deliveryId, agentId } = delivery
    return store().write((writer) =>
      writer.putRevertedTarget({ deliveryId, agentId, target, since, error }),
    )
  }
  const remove = (delivery: Delivery, target?: string): Promise<void> =>
    store().write((writer) => writer.removeRevertedTargets(delivery.id, target))
  const list = async (...deliveries: Delivery[]): Promise<RevertedTarget[]> =>
    store().reader.listRevertedTargets(deliveries.map(({ id }) => id))
  const count = async (): Promise<number> => (await store().reader.summariseFleet(RULE)).reverted

  test('a target that is put back is kept with its first time and its last reason, until it is applied', async () => {
    const delivery = await insert('web-1')
    await put(delivery, 'nginx.toml')
    await put(delivery, 'haproxy.toml', 'why', LATER)
    await put(delivery, 'nginx.toml', 'another reason', LATER)
    const { id: deliveryId, agentId } = delivery
    const rest = { deliveryId, agentId }
    const haproxy = { ...rest, target: 'haproxy.toml', since: LATER, error: 'why' }
    assert.deepEqual(await list(delivery), [
      { ...rest, target: 'nginx.toml', since: NOW, error: 'another reason' },
      haproxy,
    ])
    assert.equal(await count(), 1)
    await remove(delivery, 'nginx.toml')
    assert.deepEqual(await list(delivery), [haproxy])
    assert.equal(await count(), 1)
    await remove(delivery, 'other.toml')
    assert.equal(await count(), 1)
    await remove(delivery, 'haproxy.toml')
    assert.deepEqual(await list(delivery), [])
    assert.equal(await count(), 0)
  })

  test('a success of a named target ends the nameless one too, and a nameless success ends all', async () => {
    const delivery = await insert('web-1')
    await put(delivery, '')
    await put(delivery, 'haproxy.toml')
    await remove(delivery, 'nginx.toml')
    assert.deepEqual(
      (await list(delivery)).map(({ target }) => target),
      ['haproxy.toml'],
    )
    await put(delivery, '')
    await remove(delivery)
    assert.deepEqual(await list(delivery), [])
    assert.equal(await count(), 0)
  })

  test('it ends with its delivery, and with the revocation of its agent', async () => {
    const [replaced, cancelled, revoked, standing] = [
      await insert('a'),
      await insert('b'),
      await insert('c'),
      await insert('d'),
    ]
    for (const one of [replaced, cancelled, revoked, standing]) await put(one, 'x.toml')
    await put(standing, 'y.toml')
    assert.equal(await count(), 4)
    await setStatus(replaced, 'substituida')
    await store().write((writer) => writer.cancelDeliveries([cancelled.id], NOW))
    const agent = await store().reader.findAgentById(revoked.agentId)
    assert.ok(agent)
    await store().write((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
    assert.deepEqual(
      (await list(replaced, cancelled, revoked, standing)).map(({ target }) => target),
      ['x.toml', 'y.toml'],
    )
    assert.equal(await count(), 1)
    assert.deepEqual(await store().reader.listRevertedDeliveries(1), [
      { hostname: 'd', name: 'd', since: NOW },
    ])
  })

  test('of one delivery 32 are kept, however many its agent invents', async () => {
    const delivery = await insert('web-1')
    for (let index = 0; index < 40; index += 1) await put(delivery, `t${index}.toml`)
    await put(delivery, 't3.toml', 'still known')
    const targets = await list(delivery)
    assert.equal(targets.length, 32)
    assert.equal(targets.find(({ target }) => target === 't3.toml')?.error, 'still known')
  })
}
