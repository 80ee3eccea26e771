import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { append, insertAgent, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { ROUTINE_EVENT_TYPES } from '../../../protocol/routine-events.ts'
import { ROUTINE_OF_INDEX } from '../../store/sqlite/notable-entries-tables.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'
import { listEntries } from './list-entries.ts'

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
    [{ routine: true, last: 2 }, [8, 9]],
  ]
  for (const [request, expected] of cases) {
    test(`[API-60] of ${JSON.stringify(request)}`, async () => {
      assert.deepEqual(await listed(request), expected)
    })
  }

  for (const [request, expected] of [
    [{ by: 'people' }, [1, 2, 3, 5, 7, 8]],
    [{ by: 'people', last: 2, before: 8 }, [5, 7]],
    [{ by: 'people', tipo: 'carga_created' }, [5, 8]],
    [{ by: 'people', about: 'web-1' }, [1, 3, 7, 8]],
    [{ by: 'hosts' }, [4, 6, 9]],
    [{ by: 'hosts', about: 'web-1', last: 1 }, [9]],
    [{ by: 'hosts', tipo: 'carga_created' }, []],
  ] as const satisfies readonly (readonly [AdminRequest<'listEntries'>, readonly number[]])[]) {
    test(`[API-160] of ${JSON.stringify(request)}`, async () => {
      assert.deepEqual(await listed(request), expected)
    })
  }

  test('[API-160] by people does not go with a name, and agents have theirs', async () => {
    for (const other of [{ actor: 'admin' }, { agente: 'web-1' }]) {
      await assert.rejects(operations.listEntries({ by: 'people', ...other }), {
        code: 'request_invalid',
      })
    }
    const { eventos } = await operations.listEntries({ after: 3, limit: 2 })
    assert.deepEqual(
      eventos.map(({ hostname }) => hostname),
      ['web-1', null],
    )
  })

  test('[API-160] acts of people are found beside hundreds of names that acted', async () => {
    const many = await openTemporaryStore()
    try {
      for (let number = 0; number < 300; number += 1) {
        const payloadText = JSON.stringify({
          actor: number % 2 === 0 ? `token:${number}` : `x${number}`,
        })
        await append(many, { eventType: 'token_created', payloadText, at: NOW })
      }
      const { eventos } = await listEntries(
        many.reader,
        { by: 'people', last: 200 },
        {} as Parameters<typeof listEntries>[2],
      )
      assert.equal(eventos.length, 150)
    } finally {
      await many[Symbol.asyncDispose]()
    }
  })

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

describe('[API-150] entries without routine', () => {
  let store: Store & AsyncDisposable
  let operations: AdminOperations
  let agentId: AgentId
  before(async () => {
    store = await openTemporaryStore()
    operations = createAdminOperations(
      {
        store,
        clock: CLOCK,
        addresses: { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' },
        hubNames: ['hub.test'],
        contentBytesMax: 1024,
        renewalThresholdMs: 0,
      },
      'admin',
      'admin',
    )
    agentId = (await insertAgent(store, 'web-1')).id
    // 1 to 1,200 but for 601 and 1,200, which an agent and the hub wrote.
    for (let seq = 1; seq <= 1200; seq += 1) {
      const byHub = { agentId: null, payloadText: '{"actor":"hub"}' }
      if (seq === 601) await append(store, { agentId, eventType: 'entrega_falhou' })
      else if (seq === 1200) await append(store, { ...byHub, eventType: 'certificate_late' })
      else if (seq % 2 === 0) await append(store, { ...byHub, eventType: 'certificate_issued' })
      else await append(store, { agentId, eventType: 'cert_renewed', at: LATER })
    }
  })
  after(() => store[Symbol.asyncDispose]())

  const cases: readonly (readonly [AdminRequest<'listEntries'>, readonly number[], number?])[] = [
    [{}, [601, 1200], 1198],
    [{ last: 1 }, [1200], 0],
    [{ last: 2 }, [601, 1200], 598],
    [{ last: 3 }, [601, 1200], 1198],
    [{ limit: 1 }, [601], 600],
    [{ after: 601, limit: 1 }, [1200], 598],
    [{ after: 1000, before: 1100 }, [], 99],
    [{ last: 5, before: 1200 }, [601], 1198],
    [{ actor: 'hub' }, [1200]],
    [{ actor: 'hub', last: 5 }, [1200]],
    [{ agente: 'web-1' }, [601]],
    [{ about: 'web-1', last: 1 }, [601]],
    [{ tipos: ['cert_renewed', 'certificate_late'] }, [1200]],
    [{ tipo: 'cert_renewed' }, []],
  ]
  for (const [request, expected, hidden] of cases) {
    test(`of ${JSON.stringify(request)}`, async () => {
      const page = await operations.listEntries({ ...request, routine: false })
      assert.deepEqual(
        page.eventos.map(({ seq }) => seq),
        expected,
      )
      assert.equal(page.hidden, hidden)
    })
  }

  test('what the index leaves out is what is routine', () => {
    assert.deepEqual([...ROUTINE_OF_INDEX], ROUTINE_EVENT_TYPES)
  })

  test('an actor of many entries is not looked at entry by entry', async () => {
    let looked = 0
    const reader: StoreReader = Object.assign(Object.create(store.reader) as StoreReader, {
      findEntries: async (seqs: readonly number[]) => {
        looked += seqs.length
        return store.reader.findEntries(seqs)
      },
    })
    const request = { actor: 'hub', routine: false, last: 100 }
    const { eventos } = await listEntries(reader, request, {} as Parameters<typeof listEntries>[2])
    assert.deepEqual([eventos.length, looked], [1, 2])
  })
})
