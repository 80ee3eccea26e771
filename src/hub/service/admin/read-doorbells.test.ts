import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { append } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { createReadDoorbells } from './read-doorbells.ts'

test('[DOR-3] what an agent says in a payload names nobody, and what has not the form of an id is none', async () => {
  await using store = await openTemporaryStore()
  const [agent, other] = [randomUUID() as AgentId, randomUUID() as AgentId]
  const payloadText = JSON.stringify({ agente_id: other, carga_id: other, rollout: other })
  await append(store, { eventType: 'noted', agentId: agent, payloadText })
  await append(store, { eventType: 'noted', agentId: null, payloadText })
  const spoilt = JSON.stringify({ agente_id: 7, carga_id: 'a\nb', webhook_id: 'x'.repeat(65) })
  await append(store, { eventType: 'noted', agentId: null, payloadText: spoilt })
  await append(store, { eventType: 'noted', agentId: null, payloadText: 'null' })
  const doorbells = createReadDoorbells(store.reader)
  assert.deepEqual(await doorbells.list(0, 10), [
    { seq: 1, tipo: 'noted', agente_id: agent },
    { seq: 2, tipo: 'noted', agente_id: other, carga_id: other, rollout: other },
    { seq: 3, tipo: 'noted' },
    { seq: 4, tipo: 'noted' },
  ])
})
