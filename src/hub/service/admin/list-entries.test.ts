import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { append, insertAgent, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }

describe('entries are listed', () => {
  let store: Store & AsyncDisposable
  let operations: AdminOperations
  let agentId: AgentId
  before(async () => {
    store = await openTemporaryStore()
    const common = {
      store,
      clock: CLOCK,
      addresses: { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' },
      hubNames: ['hub.test'],
      contentBytesMax: 1024,
      renewalThresholdMs: 0,
    }
    const ci = createAdminOperations(common, 'token:ci', 'admin')
    operations = createAdminOperations(common, 'admin', 'admin')
    // 1 to 3: what people did before there was an agent, and to another one.
    await ci.createToken({ hostname: 'web-1', role: 'web' })
    agentId = (await insertAgent(store, 'web-1')).id
    await insertAgent(store, 'web-2')
    await operations.pushToAgent({ agente: 'web-2', acao: 'sync' })
    await operations.pushToAgent({ agente: 'web-1', acao: 'sync' })
    // 4 to 7
    await append(store, { agentId, eventType: 'agent_started', at: NOW })
    const cargo = { tipo: 'csr_cert', nome: 'site', agentes: ['web-1'], roles: [], sans: [] }
    const { entregas } = await ci.createCargo(cargo)
    await append(store, { agentId, eventType: 'entrega_falhou', at: NOW })
    await operations.cancelDelivery({ entrega: entregas[0]?.id ?? '' })
    // 8, and 9 with another time
    await ci.createCargo({ ...cargo, nome: 'shop' })
    await append(store, { agentId, eventType: 'agent_started', at: LATER })
  })
  after(() => store[Symbol.asyncDispose]())

  const listed = async (request: AdminRequest<'listEntries'>): Promise<number[]> =>
    (await operations.listEntries(request)).eventos.map(({ seq }) => seq)

  const cases: readonly (readonly [AdminRequest<'listEntries'>, readonly number[]])[] = [
    // The carga of entry 5 is no longer the agent’s, what became of its entrega is.
    [{ about: 'web-1' }, [1, 3, 4, 6, 7, 8, 9]],
    [{ about: 'web-1', last: 2 }, [8, 9]],
    [{ about: 'web-1', last: 2, before: 8 }, [6, 7]],
    [{ about: 'web-1', limit: 2, after: 3 }, [4, 6]],
    [{ about: 'web-1', actor: 'token:ci' }, [1, 8]],
    [{ about: 'web-1', actor: 'admin' }, [3, 7]],
    [{ about: 'web-1', tipo: 'agent_started' }, [4, 9]],
    [{ about: 'web-1', tipos: ['agent_started', 'token_created'], last: 2 }, [4, 9]],
    [{ about: 'web-1', tipos: ['agent_started', 'token_created'], limit: 2 }, [1, 4]],
    [{ actor: 'token:ci' }, [1, 5, 8]],
    [{ actor: 'token:ci', tipo: 'carga_created', last: 1 }, [8]],
    [{ actor: 'nobody' }, []],
    [{ agente: 'web-1' }, [4, 6, 9]],
    [{ agente: 'web-1', tipo: 'entrega_falhou' }, [6]],
    [{ tipos: ['agent_started', 'entrega_falhou'] }, [4, 6, 9]],
    [{ tipos: ['agent_started', 'entrega_falhou'], after: 4, before: 9 }, [6]],
    [{ since: LATER.toISOString() }, [9]],
    [{ until: LATER.toISOString(), last: 2 }, [7, 8]],
    [{ before: 3 }, [1, 2]],
    [{ since: NOW.toISOString(), until: NOW.toISOString() }, []],
  ]
  for (const [request, expected] of cases) {
    test(`[API-60] of ${JSON.stringify(request)}`, async () => {
      assert.deepEqual(await listed(request), expected)
    })
  }

  test('[API-60] about an agent that is named by its id', async () => {
    assert.deepEqual(await listed({ about: agentId }), await listed({ about: 'web-1' }))
  })

  test('[API-60] about a host that has no agent, by its name alone', async () => {
    await operations.createToken({ hostname: 'web-9', role: 'web' })
    assert.deepEqual(await listed({ about: 'web-9' }), [10])
    await assert.rejects(operations.listEntries({ about: 'web-10' }), { code: 'agent_not_found' })
  })

  test('[API-60] filters that contradict each other are refused', async () => {
    for (const request of [
      { agente: 'web-1', about: 'web-1' },
      { agente: 'web-1', actor: 'admin' },
      { tipo: 'x', tipos: ['x'] },
    ]) {
      await assert.rejects(operations.listEntries(request), { code: 'request_invalid' })
    }
  })

  test('[API-60] of a rare type among many, over several steps', async () => {
    const other = (await insertAgent(store, 'busy')).id
    await append(store, { agentId: other, eventType: 'rare', at: LATER })
    for (let count = 0; count < 1001; count += 1) {
      await append(store, { agentId: other, eventType: 'usual', at: LATER })
    }
    await append(store, { agentId: other, eventType: 'rare', at: LATER })
    const rare = [11, 1013]
    assert.deepEqual(await listed({ agente: 'busy', tipo: 'rare' }), rare)
    assert.deepEqual(await listed({ about: 'busy', tipo: 'rare', last: 5 }), rare)
    assert.deepEqual(await listed({ about: 'busy', tipo: 'rare', last: 1 }), [1013])
  })
})
