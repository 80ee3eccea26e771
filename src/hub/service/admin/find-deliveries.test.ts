import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertAgent, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'

describe('entregas are listed', () => {
  let store: Store & AsyncDisposable
  let operations: AdminOperations
  const idOf: Record<string, string> = {}
  before(async () => {
    store = await openTemporaryStore()
    const clock = { now: () => NOW, sleep: () => Promise.resolve() }
    const addresses = { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' }
    const common = {
      store,
      clock,
      addresses,
      hubNames: ['hub.test'],
      contentBytesMax: 1024,
      renewalThresholdMs: 0,
    }
    operations = createAdminOperations(common, 'admin', 'admin')
    // By another order than that of their names.
    for (const name of ['web-2', 'web-1']) await insertAgent(store, name)
    const db = await insertAgent(store, 'db-1')
    await store.write((writer) => writer.updateAgent({ ...db, role: 'db' }))
    for (const name of ['web-1', 'db-1']) {
      await operations.labelAgents({ agente: name, set: { env: 'prod' } })
    }
    const create = async (nome: string, agentes: string[]) => {
      const made = await operations.createCargo({
        tipo: 'csr_cert',
        nome,
        agentes,
        roles: [],
        sans: [],
      })
      idOf[nome] = made.carga_id
      for (const { hostname, id } of made.entregas) idOf[`${hostname}/${nome}`] = id
    }
    await create('site', ['web-1', 'web-2', 'db-1'])
    await create('shop', ['web-1'])
    const failed = idOf['web-1/shop'] as DeliveryId
    await store.write((writer) => writer.setDeliveryStatus(failed, 'falhou', LATER, 'no'))
    await operations.cancelDelivery({ entrega: 'db-1/site' })
    // What was there is replaced: two rows of history.
    await operations.retryDeliveries({ entrega: 'web-2/site' })
  })
  after(() => store[Symbol.asyncDispose]())

  const listed = async (request: AdminRequest<'findDeliveries'>): Promise<string[]> =>
    (await operations.findDeliveries(request)).entregas.map(
      ({ hostname, nome, status }) => `${hostname}/${nome} ${status}`,
    )

  const cases: readonly (readonly [AdminRequest<'findDeliveries'>, readonly string[]])[] = [
    [{}, ['web-1/shop falhou', 'web-1/site pendente', 'web-2/site pendente']],
    [
      { all: true },
      [
        'db-1/site cancelada',
        'web-1/shop falhou',
        'web-1/site pendente',
        'web-2/site substituida',
        'web-2/site pendente',
      ],
    ],
    [{ sort: 'created' }, ['web-1/site pendente', 'web-1/shop falhou', 'web-2/site pendente']],
    [{ agente: 'web-1' }, ['web-1/shop falhou', 'web-1/site pendente']],
    [{ agente: 'web-1', carga: 'site' }, ['web-1/site pendente']],
    [{ agente: 'db-1' }, []],
    [{ agente: 'db-1', all: true }, ['db-1/site cancelada']],
    [{ role: 'web' }, ['web-1/shop falhou', 'web-1/site pendente', 'web-2/site pendente']],
    [{ role: 'db', all: true }, ['db-1/site cancelada']],
    [{ where: 'env=prod' }, ['web-1/shop falhou', 'web-1/site pendente']],
    [{ where: '!env' }, ['web-2/site pendente']],
    [{ where: 'role in (web,db),name!=web-2', role: 'db', all: true }, ['db-1/site cancelada']],
    [{ where: 'env=prod', agente: 'web-2' }, []],
    [{ where: 'env', carga: 'site' }, ['web-1/site pendente']],
    [{ where: 'env', status: ['pendente'] }, ['web-1/site pendente']],
    [{ role: 'web', status: ['falhou'] }, ['web-1/shop falhou']],
    [{ carga: 'site' }, ['web-1/site pendente', 'web-2/site pendente']],
    [
      { carga: 'site', status: ['cancelada', 'substituida'], all: true, role: 'db' },
      ['db-1/site cancelada'],
    ],
    [{ status: ['pendente'] }, ['web-1/site pendente', 'web-2/site pendente']],
    [{ status: ['pendente'], sort: 'host' }, ['web-1/site pendente', 'web-2/site pendente']],
    [{ status: ['cancelada'], all: true }, ['db-1/site cancelada']],
    [{ status: ['cancelada'] }, []],
    [{ status: ['revertida'] }, []],
    [{ late: true }, []],
    [{ q: 'WEB-1' }, ['web-1/shop falhou', 'web-1/site pendente']],
    [{ q: '-2', carga: 'site' }, ['web-2/site pendente']],
    [{ q: '-2', status: ['pendente'] }, ['web-2/site pendente']],
    [{ q: 'b-', where: 'env', all: true, status: ['cancelada'] }, ['db-1/site cancelada']],
    [{ q: 'x' }, []],
  ]
  for (const [request, expected] of cases) {
    test(`[API-61] of ${JSON.stringify(request)}, whole and in pages of one`, async () => {
      assert.deepEqual(await listed(request), expected)
      const paged: string[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = { ...request, limit: 1, ...(cursor !== undefined && { after: cursor }) }
        paged.push(...(await listed(page)))
        cursor = (await operations.findDeliveries(page)).next
      }
      assert.deepEqual(paged, expected)
    })
  }

  test('[API-61] an order that no index has is refused, and so is a place in no list', async () => {
    for (const request of [
      { agente: 'web-1', sort: 'updated' },
      { carga: 'site', sort: 'host' },
      { carga: 'site', sort: 'created', all: true },
      { sort: 'updated' },
      { sort: 'updated', status: ['pendente'], role: 'web' },
      { sort: 'updated', status: ['pendente'], where: 'env' },
      { sort: 'updated', status: ['pendente', 'falhou'] },
    ] as AdminRequest<'findDeliveries'>[]) {
      await assert.rejects(operations.findDeliveries(request), { code: 'sort_unsupported' })
    }
    await assert.rejects(operations.findDeliveries({ after: 'nowhere' }), {
      code: 'cursor_unknown',
    })
    await assert.rejects(operations.findDeliveries({ where: 'env=prod,' }), {
      code: 'selector_invalid',
    })
  })

  test('[API-62] a carga and an entrega are known by name while nothing else has it', async () => {
    assert.equal((await operations.showCargo({ carga: 'site' })).id, idOf['site'])
    assert.equal((await operations.showDelivery({ entrega: 'shop' })).id, idOf['web-1/shop'])
    assert.equal((await operations.showDelivery({ entrega: 'web-1/site' })).id, idOf['web-1/site'])
    const made = await operations.pushToAgent({ agente: 'web-1', nome: 'motd', conteudo: 'x' })
    const other = await operations.pushToAgent({ agente: 'web-2', nome: 'motd', conteudo: 'x' })
    await assert.rejects(operations.removeCargo({ carga: 'motd' }), {
      code: 'cargo_ambiguous',
      message: /^more than one load is named motd: push [0-9a-f-]{36}, push [0-9a-f-]{36}$/,
    })
    await assert.rejects(operations.cancelDelivery({ entrega: 'motd' }), {
      code: 'delivery_ambiguous',
      message: `more than one delivery is named motd: web-1/motd (push, ${made.entrega_id}), web-2/motd (push, ${other.entrega_id})`,
    })
    await assert.rejects(operations.showCargo({ carga: 'none' }), { code: 'cargo_not_found' })
    await assert.rejects(operations.showDelivery({ entrega: 'web-1/none' }), {
      code: 'delivery_not_found',
    })
  })
})
