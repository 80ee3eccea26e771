import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newAgent, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { cargoAgents } from './cargo-agents.ts'

let store: Store & AsyncDisposable
before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())

async function insert(...agents: Agent[]): Promise<void> {
  await store.write(async (writer) => {
    for (const agent of agents) await writer.insertAgent(agent)
  })
}

async function find(agentes: readonly string[], roles: readonly string[]): Promise<string[][]> {
  const slices: string[][] = []
  for await (const agents of cargoAgents(store.reader, { agentes, roles })) {
    slices.push(agents.map(({ hostname }) => hostname))
  }
  return slices
}

test('those that are named and those of the roles get a carga, each once', async () => {
  const [one, other] = [newAgent('a-1'), { ...newAgent('b-1'), role: 'b' }]
  await insert(one, other, { ...newAgent('b-2'), role: 'b', revokedAt: NOW })
  await insert({ ...newAgent('b-3'), role: 'b', revokedAt: NOW, removedAt: NOW })
  assert.deepEqual(await find(['b-1', one.id, 'a-1'], ['b', 'b']), [['b-1', 'a-1']])
})

test('one that is named and unknown, removed or revoked is refused; so is a carga for nobody', async () => {
  await insert({ ...newAgent('c-1'), role: 'c', revokedAt: NOW })
  await insert({ ...newAgent('c-2'), role: 'c', revokedAt: NOW, removedAt: NOW })
  await assert.rejects(find(['nobody'], []), {
    code: 'agent_not_found',
    message: 'no agent nobody',
  })
  await assert.rejects(find(['c-2'], []), { code: 'agent_not_found' })
  await assert.rejects(find(['c-1'], []), {
    code: 'agent_revoked',
    message: 'agent c-1 is revoked',
  })
  for (const roles of [[], ['c'], ['unknown']]) {
    await assert.rejects(find([], roles), {
      code: 'no_recipient',
      message: 'no agent would get this load',
    })
  }
})

test('[FLT-1] they come in slices of 250, all of a role of whatever size', async () => {
  await insert(
    ...Array.from({ length: 501 }, (_, index) => ({ ...newAgent(`d-${index}`), role: 'd' })),
  )
  const slices = await find(['d-7'], ['d'])
  assert.deepEqual(
    slices.map(({ length }) => length),
    [250, 250, 1],
  )
  assert.equal(new Set(slices.flat()).size, 501)
})
