import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { newAgent } from '../../../../test/store/store-samples.ts'
import { lastSeq, type RecordedAct, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { Store, StoreWriter } from '../../store/store.ts'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let seq: number

async function openHub(): Promise<void> {
  store = await openTemporaryStore()
  hub = openAdmin(store)
}

async function insert(...names: readonly string[]): Promise<void> {
  await store.write(async (writer) => {
    for (const name of names) await writer.insertAgent(newAgent(name))
  })
}

async function labelsOf(name: string): Promise<Record<string, string>> {
  const { labels } = await hub.admin.showAgent({ agente: name })
  return Object.fromEntries(labels.map((label) => label.split('=') as [string, string]))
}

/** As the agent would have said. */
async function report(name: string, labels: Record<string, string>): Promise<void> {
  const { id: agentId } = (await store.reader.findAgentByHostname(name)) ?? assert.fail()
  const set = new Map(Object.entries(labels))
  await store.write((writer) => writer.changeLabels([{ agentId, set, removed: [] }]))
}

const acts = (): Promise<RecordedAct[]> => readActs(store.reader, seq)
const hostsIn = ([, payload]: RecordedAct): readonly string[] =>
  (payload as { agentes: string[] }).agentes

describe('labels of one host', () => {
  before(openHub)
  after(() => store[Symbol.asyncDispose]())
  let count = 0
  let name: string
  beforeEach(async () => {
    name = `web-${(count += 1)}`
    await insert(name)
    seq = await lastSeq(store.reader)
  })

  test('[LBL-8] [LBL-9] are given and taken away, and the log says what changed', async () => {
    const set = { env: 'prod', zone: '' }
    const request = { agente: name, set, remove: ['canary'] }
    assert.deepEqual(await hub.as('operator').labelAgents(request), { agentes: 1, changed: 1 })
    assert.deepEqual(await labelsOf(name), { env: 'prod', zone: '' })
    const change = { agente: name, set: { env: 'stage' }, remove: ['zone', 'canary'] }
    await hub.admin.labelAgents(change)
    assert.deepEqual(await labelsOf(name), { env: 'stage' })
    const { id: agente_id } = await hub.admin.showAgent({ agente: name })
    const whom = { agente_id, hostname: name }
    assert.deepEqual(await acts(), [
      ['labels_changed', { actor: 'token:ci', ...whom, set, removed: [] }],
      ['labels_changed', { actor: 'admin', ...whom, set: { env: 'stage' }, removed: ['zone'] }],
    ])
    assert.deepEqual(hub.told, [])
    const again = await hub.admin.labelAgents(change)
    assert.deepEqual([again, (await acts()).length], [{ agentes: 1, changed: 0 }, 2])
  })

  test('[LBL-2] [LBL-3] are at most 32, beside those that its agent reports', async () => {
    await report(name, { 'host.os': 'linux' })
    const many = (from: number, to: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: to - from }, (_, at) => [`k${from + at}`, 'v']))
    await hub.admin.labelAgents({ agente: name, set: many(0, 31) })
    await hub.admin.labelAgents({ agente: name, set: many(31, 32) })
    await assert.rejects(hub.admin.labelAgents({ agente: name, set: many(32, 33) }), {
      code: 'labels_too_many',
      message: `${name} would have 33 labels, and may have 32`,
    })
    await hub.admin.labelAgents({ agente: name, set: many(32, 33), remove: ['k0'] })
    assert.equal(Object.keys(await labelsOf(name)).length, 33)
    await assert.rejects(hub.admin.labelAgents({ agente: name, set: many(0, 33) }), {
      message: 'a host would have 33 labels, and may have 32',
    })
  })

  const refused: [
    request: Omit<AdminRequest<'labelAgents'>, 'agente'>,
    code: string,
    why: string,
  ][] = [
    [{}, 'request_invalid', 'set and remove name no label'],
    [{ set: {}, remove: [] }, 'request_invalid', 'set and remove name no label'],
    [{ set: { a: '' }, remove: ['a'] }, 'request_invalid', 'set and remove both name a'],
    [{ where: 'env', set: { a: '' } }, 'request_invalid', 'agente and where do not go together'],
    [
      { set: { 'host.os': 'plan9' } },
      'label_invalid',
      'label "host.os": only the agent of a host says what begins with host.',
    ],
    [
      { remove: ['host.os'] },
      'label_invalid',
      'label "host.os": only the agent of a host says what begins with host.',
    ],
    [
      { set: { role: 'db' } },
      'label_invalid',
      'label "role": each host has a role that no label replaces',
    ],
    [
      { set: { env: 'a b' } },
      'label_invalid',
      'label "env": a value has letters, digits, -, _ and . alone, and begins and ends with a letter or a digit',
    ],
  ]
  for (const [request, code, message] of refused) {
    test(`[LBL-1] [LBL-3] [LBL-8] are not ${JSON.stringify(request)}`, async () => {
      await assert.rejects(hub.admin.labelAgents({ agente: name, ...request }), { code, message })
      assert.deepEqual(await acts(), [])
    })
  }

  test('[LBL-8] name a host that is there, or a selector', async () => {
    await assert.rejects(hub.admin.labelAgents({ agente: 'nobody', set: { a: '' } }), {
      code: 'agent_not_found',
    })
    await assert.rejects(hub.admin.labelAgents({ set: { a: '' } }), {
      code: 'request_invalid',
      message: 'agente or where is missing',
    })
  })

  test('[LBL-4] are those of a revoked host too, and end when it is removed', async () => {
    await hub.admin.labelAgents({ agente: name, set: { env: 'prod' } })
    const { id } = await hub.admin.revokeAgent({ agente: name })
    await hub.admin.labelAgents({ agente: name, set: { zone: 'a' } })
    assert.deepEqual(await labelsOf(name), { env: 'prod', zone: 'a' })
    await hub.admin.removeAgent({ agente: name })
    assert.deepEqual(await labelsOf(id), {})
    await assert.rejects(hub.admin.labelAgents({ agente: id, set: { env: 'prod' } }), {
      code: 'agent_not_found',
    })
    await insert(name)
    assert.deepEqual(await labelsOf(name), {})
  })
})

describe('labels of each host that matches', () => {
  const NAMES = Array.from({ length: 600 }, (_, at) => `web-${`${at}`.padStart(3, '0')}`)
  const MATCHING = NAMES.filter((_, at) => at % 2 === 0)
  beforeEach(async () => {
    await openHub()
    await insert(...NAMES, 'gone')
    await store.write(async (writer) => {
      const agents = await writer.pageHosts({ by: 'all' }, { limit: 1000 })
      await writer.changeLabels(
        agents.map(({ id, hostname }) => ({
          agentId: id,
          set: new Map([['env', NAMES.indexOf(hostname) % 2 === 0 ? 'prod' : 'stage']]),
          removed: [],
        })),
      )
    })
    await hub.admin.labelAgents({ agente: 'gone', set: { env: 'prod' } })
    await hub.admin.revokeAgent({ agente: 'gone' })
    seq = await lastSeq(store.reader)
  })
  const close = async (): Promise<void> => store[Symbol.asyncDispose]()

  test('[LBL-9] [LBL-10] change in slices, each with an entry that names its hosts', async () => {
    await using _ = { [Symbol.asyncDispose]: close }
    const request = { where: ' env = prod', set: { tier: 'one' }, remove: ['env'] }
    const rehearsed = (await hub.admin.labelAgents({
      ...request,
      dry_run: true,
    } as never)) as unknown
    assert.deepEqual(await acts(), [])
    assert.deepEqual(await hub.admin.labelAgents(request), { agentes: 300, changed: 300 })
    const recorded = await acts()
    assert.deepEqual(recorded.map(hostsIn), [MATCHING.slice(0, 250), MATCHING.slice(250)])
    const [[type, payload] = []] = recorded
    const { agentes: _hosts, ...rest } = payload as { agentes: string[] }
    const said = { actor: 'admin', where: 'env=prod', set: { tier: 'one' }, removed: ['env'] }
    assert.deepEqual([type, rest], ['labels_changed', said])
    const { acts: foretold } = rehearsed as { acts: { tipo: string; payload: unknown }[] }
    assert.deepEqual(
      foretold.map(({ tipo, payload: what }) => [tipo, what]),
      recorded,
    )
    assert.deepEqual(await labelsOf('web-002'), { tier: 'one' })
    assert.deepEqual(await labelsOf('web-003'), { env: 'stage' })
    assert.deepEqual(await labelsOf('gone'), { env: 'prod' })
    assert.deepEqual(await hub.admin.labelAgents(request), { agentes: 0, changed: 0 })
  })

  test('[LBL-10] leave an act that ends early done as far as the log says, and it is repeated', async () => {
    await using _ = { [Symbol.asyncDispose]: close }
    let writes = 0
    const write = <T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> => {
      writes += 1
      return writes === 2 ? Promise.reject(new Error('killed')) : store.write(work)
    }
    const dying: Store = {
      reader: store.reader,
      version: store.version,
      versionOf: (id) => store.versionOf(id),
      close: () => store.close(),
      write,
    }
    const request = { where: 'env=prod', set: { tier: 'one' } }
    await assert.rejects(openAdmin(dying).admin.labelAgents(request), /killed/)
    const done = (await acts()).flatMap(hostsIn)
    assert.deepEqual(done, MATCHING.slice(0, 250))
    const { agentes } = await hub.admin.listAgents({ where: 'tier=one' })
    assert.deepEqual(
      agentes.map(({ hostname }) => hostname),
      done,
    )
    assert.deepEqual(await hub.admin.labelAgents(request), { agentes: 300, changed: 50 })
    assert.deepEqual((await acts()).flatMap(hostsIn), MATCHING)
  })

  test('[LBL-7] [LBL-10] are refused as a whole, before any is written', async () => {
    await using _ = { [Symbol.asyncDispose]: close }
    const many = Object.fromEntries(Array.from({ length: 32 }, (_each, at) => [`k${at}`, '']))
    await hub.admin.labelAgents({ agente: 'web-598', set: many, remove: ['env'] })
    seq = await lastSeq(store.reader)
    const request = { where: 'role=web', set: { tier: 'one' } }
    await assert.rejects(hub.admin.labelAgents(request), {
      code: 'labels_too_many',
      message: 'web-598 would have 33 labels, and may have 32',
    })
    for (const [where, code, message] of [
      ['env=', 'ok', ''],
      ['env=prod,', 'selector_invalid', 'where, column 10: the end where a key belongs'],
      ['!host.os', 'selector_reported', 'where: the agents themselves say what host.os is'],
    ] as const) {
      const labelled = hub.admin.labelAgents({ where, set: { tier: 'one' } })
      if (code === 'ok') assert.deepEqual(await labelled, { agentes: 0, changed: 0 })
      else await assert.rejects(labelled, { code, message })
    }
    assert.deepEqual(await acts(), [])
  })

  test('[LBL-10] of a host that is labelled or revoked meanwhile follow it', async () => {
    await using _ = { [Symbol.asyncDispose]: close }
    let isFirst = true
    const write = async <T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> => {
      if (isFirst) {
        isFirst = false
        await hub.admin.labelAgents({ agente: 'web-000', set: { env: 'stage' } })
        await hub.admin.revokeAgent({ agente: 'web-002' })
        seq = await lastSeq(store.reader)
      }
      return store.write(work)
    }
    const racing: Store = {
      reader: store.reader,
      version: store.version,
      versionOf: (id) => store.versionOf(id),
      close: () => store.close(),
      write,
    }
    const request = { where: 'env=prod', set: { tier: 'one' } }
    const { changed } = await openAdmin(racing).admin.labelAgents(request)
    assert.equal(changed, 298)
    assert.deepEqual((await acts()).flatMap(hostsIn), MATCHING.slice(2))
    assert.deepEqual(await labelsOf('web-000'), { env: 'stage' })
  })
})
