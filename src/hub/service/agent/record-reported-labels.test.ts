import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { recordReportedLabels } from './record-reported-labels.ts'

let store: Store & AsyncDisposable
let agent: Agent
let count = 0
before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  agent = await insertAgent(store, `web-${(count += 1)}`)
  const set = new Map([
    ['env', 'prod'],
    ['host.os', 'linux'],
    ['host.rack', 'r7'],
  ])
  await store.write((writer) => writer.changeLabels([{ agentId: agent.id, set, removed: [] }]))
})

async function afterEvent(payload: object, tipo_evento = 'agent_started'): Promise<unknown> {
  await store.write((writer) => recordReportedLabels(writer, agent, { tipo_evento, payload }))
  return Object.fromEntries((await store.reader.listLabels([agent.id])).get(agent.id) ?? [])
}

const BEFORE = { env: 'prod', 'host.os': 'linux', 'host.rack': 'r7' }

describe('[LBL-13] what an agent says of its host when it starts', () => {
  test('is all that it says, below host., and nothing of what others gave', async () => {
    const labels = { os: 'linux', arch: 'x64', env: 'stage', canary: '' }
    assert.deepEqual(await afterEvent({ hostname: 'web-1', labels }), {
      env: 'prod',
      'host.os': 'linux',
      'host.arch': 'x64',
      'host.env': 'stage',
      'host.canary': '',
    })
  })

  test('is stored only when it is new', async () => {
    await store.write((writer) => writer.setAgentSeen(agent.id, new Date()))
    const { version } = store
    assert.deepEqual(await afterEvent({ labels: { os: 'linux', rack: 'r7' } }), BEFORE)
    assert.equal(store.version, version)
  })

  test('is nothing of an agent that says no labels', async () => {
    assert.deepEqual(await afterEvent({ hostname: 'web-1' }), { env: 'prod' })
  })

  for (const labels of [
    'os=linux',
    ['os'],
    null,
    { os: 1 },
    { os: null },
    { '': 'x' },
    { 'a b': 'c' },
    { os: 'a b' },
    { os: 'v'.repeat(64) },
    { ['k'.repeat(59)]: '' },
    Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ''])),
    JSON.parse('{"__proto__":"x"}') as object,
  ]) {
    test(`changes nothing when it is ${JSON.stringify(labels).slice(0, 30)}`, async () => {
      assert.deepEqual(await afterEvent({ labels }), BEFORE)
    })
  }

  test('is in no other event', async () => {
    assert.deepEqual(await afterEvent({ labels: { os: 'plan9' } }, 'manifest_pulled'), BEFORE)
  })
})
