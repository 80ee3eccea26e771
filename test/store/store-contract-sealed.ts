// What every Store does with recipients and contents: a part of the suite in store-contract.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AgentId, CargoId, Recipient } from '../../src/protocol/identifiers.ts'
import type { CargoContent } from '../../src/hub/domain/cargo.ts'
import { insertAgent, insertCargo, newContent, NOW } from './store-samples.ts'
import type { Store } from '../../src/hub/store/store.ts'

export function testSealedFiles(store: () => Store): void {
  test('an agent has one recipient, the last, or none', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const other = await insertAgent(store(), 'web-2')
    const set = (recipient: string | undefined): Promise<void> =>
      store().write((writer) => writer.setRecipient(agent.id, recipient as Recipient | undefined))
    const find = (): Promise<Recipient | undefined> => store().reader.findRecipient(agent.id)
    assert.equal(await find(), undefined)
    await set('age1pq1first')
    await set('age1pq1second')
    assert.equal(await find(), 'age1pq1second')
    assert.equal(await store().reader.findRecipient(other.id), undefined)
    await set(undefined)
    await set(undefined)
    assert.equal(await find(), undefined)
  })

  test('[LIM-40] an agent owes what was set last, and nothing at first', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const other = await insertAgent(store(), 'web-2')
    assert.equal(await store().reader.findEventDebt(agent.id), undefined)
    for (const bytes of [10, 2 ** 40]) {
      const debt = { bytes, reserveBytes: bytes / 2, at: NOW }
      await store().write((writer) => writer.setEventDebt(agent.id, debt))
      assert.deepEqual(await store().reader.findEventDebt(agent.id), debt)
    }
    assert.equal(await store().reader.findEventDebt(other.id), undefined)
  })

  test('a recipient belongs to an agent, and a content to a carga, that exist', async () => {
    const recipient = 'age1pq1x' as Recipient
    const nobody = store().write((writer) =>
      writer.setRecipient(randomUUID() as AgentId, recipient),
    )
    await assert.rejects(nobody, { code: 'store_conflict' })
    const nothing = store().write((writer) =>
      writer.setContent(randomUUID() as CargoId, newContent(10)),
    )
    await assert.rejects(nothing, { code: 'store_conflict' })
  })

  test('a content may have a mode, which goes with it', async () => {
    const { id } = await insertCargo(store(), 'motd')
    const { reader } = store()
    assert.equal(await reader.findContentMode(id), undefined)
    const content = { ...newContent(10), mode: 0o640 }
    await store().write((writer) => writer.setContent(id, content))
    assert.equal(await reader.findContentMode(id), 0o640)
    assert.equal((await reader.findContent(id))?.mode, 0o640)
    await store().write((writer) => writer.setContent(id, newContent(10)))
    assert.equal(await reader.findContentMode(id), undefined)
    assert.equal((await reader.findContent(id))?.mode, undefined)
  })

  test('a carga has one content, the last, byte for byte, or none', async () => {
    const { id } = await insertCargo(store(), 'secret')
    const other = await insertCargo(store(), 'other')
    const { reader } = store()
    const set = (content: CargoContent): Promise<void> =>
      store().write((writer) => writer.setContent(id, content))
    assert.equal(await reader.findContent(id), undefined)
    assert.equal(await reader.summarizeContent(id), undefined)
    await set(newContent(100_000))
    const last = { ...newContent(70_000), escrow: ['age1pq1a', 'age1pq1b'] as Recipient[] }
    await set(last)
    const { bytes, ...found } = (await reader.findContent(id)) ?? newContent(0)
    assert.deepEqual(Buffer.from(bytes), last.bytes)
    assert.deepEqual(found, { sha256: last.sha256, escrow: last.escrow })
    const summary = { sha256: last.sha256, byteCount: 70_000 }
    assert.deepEqual(await reader.summarizeContent(id), summary)
    assert.equal(await reader.findContent(other.id), undefined)
    await store().write((writer) => writer.removeContent(id))
    await store().write((writer) => writer.removeContent(id))
    assert.equal(await reader.findContent(id), undefined)
    assert.equal((await reader.findCargo(id))?.name, 'secret')
  })
}
