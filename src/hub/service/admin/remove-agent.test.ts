import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  insertToken,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'

let store: Store & AsyncDisposable
let admin: AdminOperations
let agent: Agent
let count = 0

before(async () => {
  store = await openTemporaryStore()
  ;({ admin } = openAdmin(store))
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  agent = await insertAgent(store, `web-${(count += 1)}`)
})

async function revoke(): Promise<void> {
  await store.write((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
}

test('[CLI-6] [TOK-9] a revoked agent leaves the lists with its entregas and the tokens of its host; its history stays', async () => {
  await revoke()
  const cargo = await insertCargo(store, `site-${count}`)
  const standing = await insertDelivery(store, agent.id, cargo)
  const installed = await insertDelivery(store, agent.id, await insertCargo(store, `old-${count}`))
  await store.write((writer) => writer.setDeliveryStatus(installed.id, 'instalada', NOW, null))
  const token = await insertToken(store, { expectedHostname: agent.hostname })
  const other = await insertToken(store, { expectedHostname: 'other' as Agent['hostname'] })
  const seq = await lastSeq(store.reader)
  const shown = await admin.removeAgent({ agente: agent.hostname })
  assert.equal(shown.id, agent.id)
  assert.equal(await store.reader.findAgentByHostname(agent.hostname), undefined)
  assert.deepEqual((await store.reader.findAgentById(agent.id))?.removedAt, NOW)
  for (const { id } of [standing, installed]) {
    assert.equal((await store.reader.findDelivery(id))?.status, 'cancelada')
  }
  assert.deepEqual((await store.reader.findToken(token.hash))?.endedAt, NOW)
  assert.equal((await store.reader.findToken(other.hash))?.endedAt, null)
  assert.deepEqual(await readActs(store.reader, seq), [
    ['entrega_cancelled', { actor: 'admin', carga_id: cargo.id }],
    ['entrega_cancelled', { actor: 'admin', carga_id: installed.cargoId }],
    ['agent_removed', { actor: 'admin', agente_id: agent.id, hostname: agent.hostname }],
  ])
})

test('[CLI-6] one that is not revoked stays, and so does one that is unknown', async () => {
  const seq = await lastSeq(store.reader)
  await assert.rejects(admin.removeAgent({ agente: agent.id }), {
    code: 'agent_not_revoked',
    message: `agent ${agent.hostname} is not revoked`,
  })
  await assert.rejects(admin.removeAgent({ agente: 'nobody' }), { code: 'agent_not_found' })
  assert.deepEqual(await readActs(store.reader, seq), [])
})

test('[CLI-6] twice at once is one removal', async () => {
  await revoke()
  const seq = await lastSeq(store.reader)
  await Promise.all([1, 2].map(() => admin.removeAgent({ agente: agent.id })))
  assert.equal((await readActs(store.reader, seq)).length, 1)
})
