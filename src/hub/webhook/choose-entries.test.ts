import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  append,
  insertAgent,
  insertCargo,
  insertDelivery,
  NOW,
} from '../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../test/support/told-admin.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import { parseSelector, type Selector } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import type { Store } from '../store/store.ts'
import { chooseEntries } from './choose-entries.ts'
import { readEntries } from './read-entries.ts'

let store: Store & AsyncDisposable
let admin: AdminOperations

before(async () => {
  store = await openTemporaryStore()
  ;({ admin } = openAdmin(store))
})
after(() => store[Symbol.asyncDispose]())

function selector(text: string): Selector {
  const parsed = parseSelector(text)
  return parsed.ok ? parsed.selector : assert.fail(parsed.message)
}

/** The types of the entries after this one that a webhook gets now. */
async function chosen(where: string, afterSeq: number, types: readonly string[] = []) {
  const webhook = { url: 'https://receiver.example/in', types, where: selector(where) }
  const page = await readEntries(store.reader, webhook, afterSeq, 1)
  const some = await chooseEntries(store.reader, webhook, page)
  return page.filter((entry) => some.has(entry)).map(({ eventType }) => eventType)
}

const end = async (): Promise<number> => (await store.reader.findChainEnd())?.seq ?? 0
const act = (eventType: string, payload: object, rest: object = {}) =>
  append(store, { agentId: null, eventType, payloadText: JSON.stringify(payload), ...rest })

async function prodHost(hostname: string): Promise<Agent> {
  const agent = await insertAgent(store, hostname)
  await admin.labelAgents({ agente: hostname, set: { env: 'prod' } })
  return agent
}

describe('[WHK-18] a webhook with a selector gets', () => {
  test('what hosts send that match, and what the hub does to them, by id, entrega or name', async () => {
    const prod = await prodHost('sent-1')
    const other = await insertAgent(store, 'sent-2')
    const cargo = await insertCargo(store, 'site')
    const seq = await end()
    for (const agent of [prod, other]) {
      const of = agent === prod ? 'prod' : 'other'
      const { id: deliveryId } = await insertDelivery(store, agent.id, cargo)
      await append(store, { agentId: agent.id, eventType: `${of}_sent` })
      await act(`${of}_id`, { agente_id: agent.id })
      await act(`${of}_entrega`, {}, { deliveryId })
      await act(`${of}_name`, { hostname: agent.hostname })
    }
    await act('both', { agentes: ['sent-1', 'sent-2'] })
    await act('webhook_dead', { agente_id: prod.id })
    const ofProd = ['prod_sent', 'prod_id', 'prod_entrega', 'prod_name', 'both']
    assert.deepEqual(await chosen('env=prod', seq), ofProd)
    assert.deepEqual(await chosen('name=sent-1', seq), ofProd)
    assert.deepEqual(await chosen('env=prod,name!=sent-1', seq), [])
  })

  test('entries about no host only of the types that it names', async () => {
    const seq = await end()
    await act('politica_set', { role: 'web' })
    await act('admin_token_created', { name: 'ci' })
    assert.deepEqual(await chosen('env=prod', seq), [])
    assert.deepEqual(await chosen('env=prod', seq, ['politica_set']), ['politica_set'])
  })

  test('entries about a host that is yet to be, by what they say of it', async () => {
    const seq = await end()
    await admin.createToken({ hostname: 'yet-1', role: 'web', labels: { env: 'prod' } })
    await admin.createToken({ hostname: 'yet-2', role: 'web' })
    assert.deepEqual(await chosen('env=prod', seq), ['token_created'])
    assert.deepEqual(await chosen('role=web', seq), ['token_created', 'token_created'])
  })

  test('what matches now: labels of a later time count for earlier entries', async () => {
    const seq = await end()
    const agent = await insertAgent(store, 'moves-1')
    await append(store, { agentId: agent.id, eventType: 'moved' })
    assert.deepEqual(await chosen('env=prod', seq), [])
    await admin.labelAgents({ agente: 'moves-1', set: { env: 'prod' } })
    assert.deepEqual(await chosen('env=prod', seq), ['moved', 'labels_changed'])
  })

  test('[WHK-19] also the entries of a host that was removed, by the labels that operators had given it', async () => {
    const seq = await end()
    const agent = await prodHost('gone-1')
    const reported = new Map([['host.os', 'linux']])
    await store.write((writer) =>
      writer.changeLabels([{ agentId: agent.id, set: reported, removed: [] }]),
    )
    await append(store, { agentId: agent.id, eventType: 'last_words' })
    await admin.revokeAgent({ agente: 'gone-1' })
    await admin.removeAgent({ agente: 'gone-1' })
    const types = ['labels_changed', 'last_words', 'agent_revoked', 'agent_removed']
    assert.deepEqual(await chosen('env=prod', seq), types)
    assert.deepEqual(await chosen('env=stage', seq), [])
    const last = await store.reader.listLastLabels([agent.id])
    assert.deepEqual([...(last.get(agent.id) ?? [])], [['env', 'prod']])
    // Another host by its name changes nothing of what it was.
    await insertAgent(store, 'gone-1')
    assert.deepEqual(await chosen('env=prod', seq), types)
  })

  test('[WHK-19] however it was removed: a restored vault does it again by the row alone', async () => {
    const seq = await end()
    const agent = await prodHost('gone-2')
    await admin.revokeAgent({ agente: 'gone-2' })
    const { revokedAt } = (await store.reader.findAgentById(agent.id)) ?? {}
    assert.ok(revokedAt)
    await store.write((writer) => writer.updateAgent({ ...agent, revokedAt, removedAt: NOW }))
    assert.deepEqual(await chosen('env=prod', seq), ['labels_changed', 'agent_revoked'])
    const last = await store.reader.listLastLabels([agent.id])
    assert.deepEqual([...(last.get(agent.id) ?? [])], [['env', 'prod']])
  })

  test('and asks as often for a page as for one entry', async () => {
    const seq = await end()
    const agent = await insertAgent(store, 'page-1')
    for (let at = 0; at < 40; at += 1) {
      await append(store, { agentId: agent.id, eventType: 'paged', at: NOW })
      await act('acted', { hostname: `page-${at}` })
    }
    const asked: string[] = []
    const reader = new Proxy(store.reader, {
      get: (target, name) => {
        asked.push(String(name))
        return Reflect.get(target, name, target) as unknown
      },
    })
    const webhook = { url: 'https://receiver.example/in', types: [], where: selector('env=prod') }
    const page = await readEntries(store.reader, webhook, seq, 1)
    assert.equal(page.length, 80)
    const countOf = async (entries: typeof page): Promise<number> => {
      asked.length = 0
      await chooseEntries(reader, webhook, entries)
      return asked.length
    }
    assert.equal(await countOf(page), await countOf(page.slice(0, 1)))
  })
})
