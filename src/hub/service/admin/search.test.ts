import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { append, insertAgent, newCertificate, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'
import { createAgentRefusals } from '../agent-refusals.ts'
import { createPerformOperation } from './perform-operation.ts'

const SERIAL = '0d4f00c0ffee'

describe('[API-125] the search', () => {
  let store: Store & AsyncDisposable
  let hub: ToldAdmin
  const refusals = createAgentRefusals({ now: () => NOW })
  const ids: Record<string, string> = {}
  before(async () => {
    store = await openTemporaryStore()
    hub = openAdmin(store, { refusals })
    for (const name of ['web-1.sao.example', 'web-2.sao.example', 'db-1.rio.example']) {
      ids[name] = (await insertAgent(store, name)).id
    }
    await hub.admin.labelAgents({ agente: 'db-1.rio.example', set: { env: 'stage' } })
    const agentId = ids['web-2.sao.example'] as AgentId
    await store.write((writer) =>
      writer.insertCertificate({ ...newCertificate(agentId), serial: SERIAL }),
    )
    const made = await hub.admin.createCargo({
      tipo: 'csr_cert',
      nome: 'site-main',
      agentes: ['web-1.sao.example'],
      roles: [],
      sans: [],
    })
    ids['site-main'] = made.carga_id
    ids['entrega'] = made.entregas[0]?.id ?? ''
    await append(store, { agentId, requestId: 'req-of-an-event' })
    const token = await hub.admin.createToken({ hostname: 'new.example', role: 'web' })
    ids['token'] = token.id
    const access = await hub.admin.createAccessToken({ name: 'ci-deploy', role: 'viewer' })
    ids['access'] = access.id
    await hub.admin.setPolicy({ role: 'web', nome: 'web-names' })
    refusals.note(agentId, {
      code: 'ca_failed',
      operation: 'issue',
      reason: 'why',
      requestId: 'req-that-was-refused',
      deliveryId: null,
    })
  })
  after(() => store[Symbol.asyncDispose]())

  const show = ({ hits }: AdminReplies['search']): string[] =>
    hits.map(({ kind, title, matched }) => `${kind} ${title} by ${matched}`)

  const cases = (): readonly (readonly [string, readonly string[]])[] => [
    ['web-1', ['agente web-1.sao.example by hostname']],
    [' WEB-1.sao.example ', ['agente web-1.sao.example by hostname']],
    ['sao', ['agente web-1.sao.example by hostname', 'agente web-2.sao.example by hostname']],
    [ids['db-1.rio.example'] ?? '', ['agente db-1.rio.example by id']],
    ['req-that-was-refused', ['agente web-2.sao.example by request_id']],
    ['site-m', ['carga site-main by nome']],
    [ids['site-main'] ?? '', ['carga site-main by id']],
    [ids['entrega'] ?? '', ['entrega web-1.sao.example/site-main by id']],
    ['0D:4F:00:C0', [`certificado web-2.sao.example identity ${SERIAL} by serial`]],
    ['0d4f', []],
    [ids['token'] ?? '', ['token new.example by id']],
    [(ids['token'] ?? '').slice(0, 8), ['token new.example by id']],
    ['names', ['politica web-names by nome']],
    ['ci-dep', ['admin_token ci-deploy by name']],
    ['%', []],
    ['   ', []],
    ['99999999999999', []],
  ]

  test('finds each kind by what people have of it', async () => {
    for (const [q, expected] of cases()) {
      assert.deepEqual(show(await hub.admin.search({ q })), expected, q)
    }
    const [byNumber] = (await hub.admin.search({ q: '1' })).hits
    assert.deepEqual([byNumber?.kind, byNumber?.id, byNumber?.matched], ['evento', '1', 'seq'])
    const [event] = (await hub.admin.search({ q: 'req-of-an-event' })).hits
    assert.deepEqual([event?.kind, event?.matched], ['evento', 'request_id'])
  })

  test('finds admin tokens only for a role that may list them', async () => {
    for (const role of ['viewer', 'operator'] as const) {
      assert.deepEqual(show(await hub.as(role).search({ q: 'ci-deploy' })), [])
    }
  })

  test('answers at most twenty, and eight of a kind', async () => {
    for (let index = 0; index < 30; index += 1) await insertAgent(store, `many-${index}`)
    const { hits } = await hub.admin.search({ q: 'many' })
    assert.equal(hits.length, 8)
    assert.equal((await hub.admin.search({ q: 'many-17' })).hits.length, 1)
  })

  test('[LBL-16] a token of some hosts finds these, and nothing of what else there is', async () => {
    const perform = createPerformOperation({
      store,
      clock: { now: () => NOW, sleep: () => Promise.resolve() },
      addresses: { enrollUrl: '', mtlsUrl: '' },
      hubNames: [],
      contentBytesMax: 1024,
      renewalThresholdMs: 0,
      refusals,
    })
    const caller = { actor: 'token:stage', role: 'admin', only: 'env=stage' } as const
    const ask = async (q: string) =>
      show((await perform('search', { q }, caller)) as AdminReplies['search'])
    for (const [q, expected] of cases()) {
      const own = expected.filter((line) => line.includes('db-1'))
      assert.deepEqual(await ask(q), own, q)
    }
    assert.deepEqual(await ask('example'), ['agente db-1.rio.example by hostname'])
    for (const q of ['2', 'req-of-an-event', ids['web-1.sao.example'] ?? '']) {
      assert.deepEqual(await ask(q), [], q)
    }
  })
})
