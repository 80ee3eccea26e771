import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import { insertAgent, NOW } from '../store/store-samples.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { createRecordEvent } from './record-event.ts'

test('[AUT-16] an event that waits to be written while its agent is revoked is refused and not recorded', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'record-event-'))
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  const store = await openSqliteStore({ path, dataKey, createIfMissing: true })
  try {
    const clock = { now: () => NOW, sleep: () => Promise.resolve() }
    const hasSpace = (): Promise<boolean> => Promise.resolve(true)
    const recordEvent = createRecordEvent(store, clock, { eventPayloadBytes: 1024 }, hasSpace)
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
  } finally {
    await store.close()
    await rm(directory, { recursive: true })
  }
})
