// Labels of hosts, and hosts by their labels, as every Store keeps them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostIndex, HostSource } from '../../src/hub/domain/host-source.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { AgentId } from '../../src/protocol/identifiers.ts'
import { insertAgent, NOW } from './store-samples.ts'

export function testLabels(store: () => Store): void {
  const label = (
    { id: agentId }: Agent,
    set: Record<string, string>,
    removed: readonly string[] = [],
  ): Promise<void> =>
    store().write((writer) =>
      writer.changeLabels([{ agentId, set: new Map(Object.entries(set)), removed }]),
    )
  const list = async (agents: readonly Agent[], keys?: readonly string[]) => {
    const ids = agents.map(({ id }) => id)
    const labels = await store().reader.listLabels(ids, keys)
    return agents.map(({ id }) => Object.fromEntries(labels.get(id) ?? []))
  }
  const names = async (source: HostSource, after?: AgentId, limit = 10): Promise<string[]> => {
    const agents = await store().reader.pageHosts(source, { after, limit })
    return agents.map(({ hostname }) => hostname)
  }

  test('are set, replaced and removed, each host for itself', async () => {
    const one = await insertAgent(store(), 'web-1')
    const two = await insertAgent(store(), 'web-2')
    const three = await insertAgent(store(), 'web-3')
    await store().write((writer) =>
      writer.changeLabels([
        { agentId: one.id, set: new Map(Object.entries({ env: 'prod', zone: '' })), removed: [] },
        { agentId: two.id, set: new Map([['env', 'stage']]), removed: ['zone'] },
      ]),
    )
    const both = { env: 'prod', zone: '' }
    assert.deepEqual(await list([one, two, three]), [both, { env: 'stage' }, {}])
    assert.deepEqual(await list([one, two], ['zone', 'other']), [{ zone: '' }, {}])
    await label(one, { env: 'stage', rack: 'r7' }, ['zone', 'other'])
    assert.deepEqual(await list([one, two]), [{ env: 'stage', rack: 'r7' }, { env: 'stage' }])
    await store().write((writer) => writer.changeLabels([]))
    assert.deepEqual(await list([]), [])
  })

  test('name hosts in the order of their hostnames, after any agent, without removed ones', async () => {
    const hosts = new Map<string, Agent>()
    for (const name of ['d', 'b', 'a', 'e', 'c']) {
      const agent = await insertAgent(store(), name)
      hosts.set(name, agent)
      if (name !== 'c') await label(agent, { env: name === 'b' ? 'stage' : 'prod' })
    }
    const host = (name: string): Agent => {
      const agent = hosts.get(name)
      assert.ok(agent)
      return agent
    }
    const gone = { ...host('e'), revokedAt: NOW, removedAt: NOW }
    await store().write((writer) => writer.updateAgent(gone))
    assert.deepEqual(await list([gone]), [{}], 'whoever removes a host')
    await label(gone, { env: 'prod' })
    await label(host('a'), { env: 'prod' })
    const ofProd = { by: 'label', key: 'env', value: 'prod' } as const
    const ofEnv = { by: 'label', key: 'env', value: undefined } as const
    assert.deepEqual(await names({ by: 'all' }), ['a', 'b', 'c', 'd'])
    assert.deepEqual(await names(ofProd), ['a', 'd'])
    assert.deepEqual(await names(ofEnv), ['a', 'b', 'd'])
    assert.deepEqual(await names(ofEnv, undefined, 2), ['a', 'b'])
    assert.deepEqual(await names(ofEnv, host('b').id), ['d'])
    assert.deepEqual(await names(ofEnv, host('c').id), ['d'])
    assert.deepEqual(await names(ofProd, gone.id), [])
    assert.deepEqual(await names({ by: 'role', role: 'web' }, host('a').id), ['b', 'c', 'd'])
    assert.deepEqual(await names({ by: 'role', role: 'db' }), [])
    assert.deepEqual(await names({ by: 'name', hostname: 'c' }), ['c'])
    assert.deepEqual(await names({ by: 'name', hostname: 'e' }), [])
    const count = (index: HostIndex, limit: number) => store().reader.countHosts(index, limit)
    assert.equal(await count(ofEnv, 10), 3)
    assert.equal(await count(ofEnv, 2), 2)
    assert.equal(await count(ofProd, 10), 2)
    assert.equal(await count({ by: 'role', role: 'web' }, 10), 4)
    assert.equal(await count({ by: 'name', hostname: 'c' }, 10), 1)
  })

  test('[LBL-7] [LBL-19] may change what this agent is answered, unless the agent said them', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const other = await insertAgent(store(), 'web-2')
    const { version } = store()
    await label(agent, { 'host.os': 'linux' })
    assert.ok(store().version > version)
    assert.ok(store().versionOf(agent.id) <= version)
    await label(agent, { env: 'prod' })
    assert.equal(store().versionOf(agent.id), store().version)
    assert.ok(store().versionOf(other.id) <= version)
  })
}
