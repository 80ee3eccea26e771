import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import {
  insertAgent,
  insertCargo,
  insertCertificate,
  insertDelivery,
  newCargo,
  NOW,
} from '../store/store-samples.ts'
import type { Store } from '../store/store.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { createRecordEvent } from './record-event.ts'

test('[AUT-16] an event that waits to be written while its agent is revoked is refused and not recorded', async () => {
  await withStore(async (store) => {
    const recordEvent = createRecordEvent(store, CLOCK, { eventPayloadBytes: 1024 }, hasSpace)
    const agent = await insertAgent(store, 'web-1')
    const event = { tipo_evento: 'agent_started', payload: {}, request_id: 'once' }
    assert.equal((await recordEvent(agent, event)).ok, true)
    const revoked = store.write((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
    const outcomes = [event, { ...event, request_id: 'twice' }].map((one) =>
      recordEvent(agent, one),
    )
    await revoked
    for (const outcome of await Promise.all(outcomes)) {
      assert.deepEqual(outcome, { ok: false, refusal: 'agent_revoked' })
    }
    assert.equal((await store.reader.listEntries({ afterSeq: 0, limit: 10 })).length, 1)
    assert.equal((await store.reader.findAgentById(agent.id))?.lastSeenAt, null)
  })
})

test('[BLB-12] an identity that was never used stays one when a sealed file arrives, unlike at a csr_cert', async () => {
  await withStore(async (store) => {
    const recordEvent = createRecordEvent(store, CLOCK, { eventPayloadBytes: 1024 }, hasSpace)
    const agent = await insertAgent(store, 'web-1')
    const identity = await insertCertificate(store, agent.id)
    const sealed = { ...newCargo('secret'), kind: 'selado' } as const
    await store.write((writer) => writer.insertCargo(sealed))
    for (const cargo of [sealed, await insertCargo(store, 'site')]) {
      const { id } = await insertDelivery(store, agent.id, cargo)
      const event = { tipo_evento: 'entrega_entregue', payload: {}, entrega_id: id }
      assert.equal((await recordEvent(agent, event)).ok, true)
      const found = await store.reader.findCertificate(identity.sha256)
      assert.equal(found?.purpose, cargo === sealed ? 'identity' : 'delivery')
    }
  })
})

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }

async function hasSpace(): Promise<boolean> {
  return true
}

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'record-event-'))
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  const store = await openSqliteStore({ path, dataKey, createIfMissing: true })
  try {
    await work(store)
  } finally {
    await store.close()
    await rm(directory, { recursive: true })
  }
}
