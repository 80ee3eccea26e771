// What every Store does with changes of many deliveries: a part of the suite in store-contract.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AgentId, DeliveryId } from '../../src/protocol/identifiers.ts'
import type { Cargo } from '../../src/hub/domain/cargo.ts'
import type { Delivery } from '../../src/hub/domain/delivery.ts'
import type { FleetAct, FleetChange } from '../../src/hub/domain/fleet-change.ts'
import { insertAgent, insertCargo, insertDelivery, LATER, newEntry, NOW } from './store-samples.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { appendEntries } from '../../src/hub/service/append-entries.ts'

export function testFleetChanges(store: () => Store): void {
  const begin = async (act: FleetAct, cargo: Cargo): Promise<FleetChange> => {
    const change = { act, cargoId: cargo.id, actor: 'admin', inForceAt: null } as const
    return { id: await store().write((writer) => writer.insertChange(change)), ...change }
  }
  const successorOf = (old: Delivery): Delivery => ({
    ...old,
    id: randomUUID() as DeliveryId,
    status: 'pendente',
    version: 2,
  })
  const seen = async (agentId: AgentId): Promise<(readonly [number, string])[]> =>
    (await store().reader.listDeliveries({ agentId })).map((one) => [one.version, one.status])

  test('[FLT-2] what a change prepares is seen when it is in force, and all of it then', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const cargo = await insertCargo(store(), 'site')
    const old = await insertDelivery(store(), agent.id, cargo)
    const successor = successorOf(old)
    const change = await begin('update', cargo)
    assert.deepEqual(await store().reader.listChanges(), [change])
    await store().write((writer) =>
      writer.replaceDeliveries([{ old: old.id, successor }], NOW, change.id),
    )
    assert.deepEqual(await seen(agent.id), [[1, 'pendente']])
    assert.deepEqual(await store().reader.findDelivery(old.id), old)
    assert.equal(await store().reader.findDelivery(successor.id), undefined)
    await store().write((writer) => writer.putInForce(change.id, LATER))
    const after = [
      [1, 'substituida'],
      [2, 'pendente'],
    ]
    assert.deepEqual(await seen(agent.id), after)
    assert.equal((await store().reader.listPredecessors(successor.id)).length, 1)
    const inForce = { ...change, inForceAt: LATER }
    await store().write(async (writer) => {
      assert.equal((await writer.settleChange(inForce, 9)).length, 1)
      assert.deepEqual(await writer.settleChange(inForce, 9), [])
      await writer.deleteChange(change.id)
    })
    assert.deepEqual(await seen(agent.id), after)
    const { replacedBy, updatedAt } = (await store().reader.findDelivery(old.id)) ?? {}
    assert.deepEqual([replacedBy, updatedAt], [successor.id, LATER])
  })

  test('[FLT-3] what was prepared and is discarded was never there', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const cargo = await insertCargo(store(), 'site')
    const old = await insertDelivery(store(), agent.id, cargo)
    const change = await begin('update', cargo)
    await store().write(async (writer) => {
      await writer.replaceDeliveries([{ old: old.id, successor: successorOf(old) }], NOW, change.id)
      assert.equal(await writer.discardChange(change.id, 9), 1)
      assert.equal(await writer.discardChange(change.id, 9), 1)
      assert.equal(await writer.discardChange(change.id, 9), 0)
      await writer.deleteChange(change.id)
    })
    assert.deepEqual(await store().reader.listDeliveries({ agentId: agent.id }), [
      { ...old, cargo, hostname: 'web-1' },
    ])
  })

  test('[FLT-2] the entregas of a carga that was removed are cancelled at once', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const cargo = await insertCargo(store(), 'site')
    const delivery = await insertDelivery(store(), agent.id, cargo)
    const change = { ...(await begin('remove', cargo)), inForceAt: LATER }
    await store().write((writer) => writer.putInForce(change.id, LATER))
    assert.deepEqual(await seen(agent.id), [[1, 'cancelada']])
    await store().write((writer) => writer.settleChange(change, 9))
    await store().write((writer) => writer.deleteChange(change.id))
    assert.equal((await store().reader.findDelivery(delivery.id))?.status, 'cancelada')
  })

  test('[FLT-5] what replaces or cancels one meanwhile holds for what is prepared, too', async () => {
    const cargo = await insertCargo(store(), 'site')
    const change = await begin('update', cargo)
    const prepare = async (hostname: string): Promise<{ old: Delivery; successor: Delivery }> => {
      const agent = await insertAgent(store(), hostname)
      const old = await insertDelivery(store(), agent.id, cargo)
      const successor = successorOf(old)
      await store().write((writer) =>
        writer.replaceDeliveries([{ old: old.id, successor }], NOW, change.id),
      )
      return { old, successor }
    }
    const rebuilt = await prepare('rebuilt')
    const cancelled = await prepare('cancelled')
    const between = { ...successorOf(rebuilt.old), version: 1 }
    await store().write(async (writer) => {
      await writer.replaceDeliveries([{ old: rebuilt.old.id, successor: between }], NOW)
      await writer.cancelDeliveries([cancelled.old.id], NOW)
    })
    assert.deepEqual(await seen(rebuilt.old.agentId), [
      [1, 'substituida'],
      [1, 'pendente'],
    ])
    await store().write((writer) => writer.putInForce(change.id, LATER))
    assert.deepEqual(await seen(rebuilt.old.agentId), [
      [1, 'substituida'],
      [2, 'pendente'],
      [1, 'substituida'],
    ])
    assert.deepEqual(await seen(cancelled.old.agentId), [
      [1, 'cancelada'],
      [2, 'cancelada'],
    ])
  })

  test('a set of entries is appended as it is', async () => {
    const set = ['a', 'é\\u0000\u{1f600}', 'c'].map((name) =>
      newEntry({ payloadText: `{ "name":"${name}"}`, requestId: name }),
    )
    await store().write((writer) => appendEntries(writer, set))
    const entries = await store().reader.listEntries({ afterSeq: 0, limit: 9 })
    assert.deepEqual(
      entries.map(({ seq, payloadText }) => [seq, payloadText]),
      set.map(({ payloadText }, index) => [index + 1, payloadText]),
    )
    assert.equal(entries[2]?.previousHash, entries[1]?.hash)
    assert.equal(entries[1]?.previousHash, entries[0]?.hash)
  })
}
