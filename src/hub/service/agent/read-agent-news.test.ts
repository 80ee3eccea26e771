import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertCertificate,
  insertDelivery,
  LATER,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { type AgentNews, createReadAgentNews } from './read-agent-news.ts'

let store: Store & AsyncDisposable
let agent: Agent
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  agent = await insertAgent(store, `web-${(count += 1)}`)
})

/** By a hub that has just started: nothing is known but what is committed. */
async function read(): Promise<AgentNews> {
  const current = await store.reader.findAgentById(agent.id)
  return createReadAgentNews(store, async () => true)(current ?? assert.fail())
}

const write = (work: (writer: StoreWriter) => Promise<void>): Promise<void> => store.write(work)

describe('[PSH-5] the mark of the manifest', () => {
  test('stays as long as the manifest does, and changes with it', async () => {
    const empty = await read()
    assert.deepEqual(await read(), empty)
    const { id } = await insertDelivery(store, agent.id, await insertCargo(store, `site-${count}`))
    const pending = await read()
    assert.notEqual(pending.manifest, empty.manifest)
    await write((writer) => writer.setDeliveryStatus(id, 'em_andamento', NOW, null))
    assert.notEqual((await read()).manifest, pending.manifest)
    await write((writer) => writer.setDeliveryStatus(id, 'instalada', NOW, null))
    assert.deepEqual(await read(), empty)
  })

  test('stays when another agent gets an entrega, and when this one was seen', async () => {
    const first = await read()
    const other = await insertAgent(store, `other-${count}`)
    await insertDelivery(store, other.id, await insertCargo(store, `file-${count}`))
    await write((writer) => writer.setAgentSeen(agent.id, NOW))
    assert.deepEqual(await read(), first)
  })

  test('[PSH-11] changes with each sync that is asked for, though nothing else has', async () => {
    const marks = [(await read()).manifest]
    for (const at of [NOW, LATER]) {
      await write((writer) => writer.requestSync(agent.id, at))
      marks.push((await read()).manifest)
    }
    assert.equal(new Set(marks).size, 3)
    assert.equal((await read()).rotation, undefined)
  })
})

describe('[PSH-12] the mark of a rotation', () => {
  test('is there until an identity is in use that was issued since, whoever asked for it', async () => {
    const older = await insertCertificate(store, agent.id)
    assert.equal((await read()).rotation, undefined)
    await write((writer) => writer.requestRotation(agent.id, { at: NOW, afterSeq: older.seq }))
    const { rotation } = await read()
    assert.notEqual(rotation, undefined)
    const newer = await insertCertificate(store, agent.id)
    assert.equal((await read()).rotation, rotation, 'one that is issued is not in use yet')
    await write((writer) => writer.setActiveIdentity(agent.id, older.seq, LATER))
    assert.equal((await read()).rotation, rotation)
    await write((writer) => writer.setActiveIdentity(agent.id, newer.seq, LATER))
    assert.equal((await read()).rotation, undefined)
  })

  test('is another one for another request, and says nothing of the manifest', async () => {
    const { manifest } = await read()
    await write((writer) => writer.requestRotation(agent.id, { at: NOW, afterSeq: 0 }))
    const first = await read()
    await write((writer) => writer.requestRotation(agent.id, { at: LATER, afterSeq: 0 }))
    const second = await read()
    assert.notEqual(first.rotation, second.rotation)
    assert.deepEqual([first.manifest, second.manifest], [manifest, manifest])
  })
})
