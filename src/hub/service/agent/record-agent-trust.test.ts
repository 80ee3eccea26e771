import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertAgent, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { EventRequestBody } from '../../../protocol/schemas.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AgentTrust } from '../../domain/root-set.ts'
import type { Store } from '../../store/store.ts'
import { recordAgentTrust } from './record-agent-trust.ts'

const [ONE, OTHER] = ['1'.repeat(64), '2'.repeat(64)]

let store: Store & AsyncDisposable
before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())

/** What is known of the agent once it has said that. */
async function afterEvent(
  agent: Agent,
  tipo_evento: string,
  payload: EventRequestBody['payload'],
  at = NOW,
): Promise<AgentTrust | undefined> {
  await store.write((writer) => recordAgentTrust(writer, agent, { tipo_evento, payload }, at))
  return (await store.reader.listAgentTrust([agent.id]))[0]
}

test('[TRU-6] [TRU-12] is what an agent says that it has adopted, with the file that decides on its host', async () => {
  const agent = await insertAgent(store, 'web-1')
  const adopted = { numero: 3, fingerprints: [ONE, OTHER] }
  const base = { agentId: agent.id, number: 3, fingerprints: [ONE, OTHER], error: null }
  assert.deepEqual(await afterEvent(agent, 'bundle_adopted', adopted), {
    ...base,
    pinned: null,
    reportedAt: NOW,
  })
  assert.deepEqual(
    await afterEvent(agent, 'bundle_adopted', { ...adopted, pinned: [ONE] }, LATER),
    {
      ...base,
      pinned: [ONE],
      reportedAt: LATER,
    },
  )
})

test('[TRU-9] is what stays when it refuses a set, with why', async () => {
  const agent = await insertAgent(store, 'web-2')
  const refused = { numero: 9, erro: 'no root is valid', current: 3, fingerprints: [ONE] }
  assert.deepEqual(await afterEvent(agent, 'bundle_refused', refused), {
    agentId: agent.id,
    number: 3,
    fingerprints: [ONE],
    pinned: null,
    error: 'no root is valid',
    reportedAt: NOW,
  })
  const unnumbered = await afterEvent(agent, 'bundle_refused', { ...refused, current: null })
  assert.equal(unnumbered?.number, null)
  const adopted = await afterEvent(agent, 'bundle_adopted', { numero: 9, fingerprints: [ONE] })
  assert.deepEqual([adopted?.number, adopted?.error], [9, null])
})

test('[EVT-6] is nothing of any other event, or payload, and nothing that was said before is lost', async () => {
  const agent = await insertAgent(store, 'web-3')
  const good = { numero: 3, fingerprints: [ONE] }
  const refused = { ...good, erro: 'no', current: 1 }
  for (const [type, payload] of [
    ['agent_started', good],
    ['agent_started', refused],
    ['bundle_adopted', {}],
    ['bundle_adopted', { ...good, numero: 'three' }],
    ['bundle_adopted', { ...good, fingerprints: ['not one'] }],
    ['bundle_adopted', { ...good, pinned: 'all' }],
    ['bundle_refused', good],
    ['bundle_refused', { ...refused, erro: 7 }],
  ] as const) {
    assert.equal(await afterEvent(agent, type, payload), undefined, type)
  }
  const said = await afterEvent(agent, 'bundle_adopted', good)
  assert.deepEqual(await afterEvent(agent, 'bundle_adopted', {}, LATER), said)
})

test('[TRU-13] is of who says it alone', async () => {
  const [one, other] = [await insertAgent(store, 'web-4'), await insertAgent(store, 'web-5')]
  await afterEvent(one, 'bundle_adopted', { numero: 3, fingerprints: [ONE] })
  assert.deepEqual(await store.reader.listAgentTrust([other.id]), [])
})
