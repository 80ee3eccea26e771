import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  insertAgent,
  insertDelivery,
  newAgent,
  newCargo,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Store } from '../../store/store.ts'
import { refuseForbiddenSans, refuseSameFiles } from './refuse-agents.ts'

let store: Store & AsyncDisposable
before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())

function permit(role: string, name: string, permittedSans: readonly string[]): Promise<void> {
  const bounds = {
    tokenTtlSecondsMax: null,
    certTtlSeconds: null,
    permittedSans,
    areSansNamed: true,
  }
  const policy = { role, name, ...bounds, mayOperatorsReenroll: false, automaticCargoes: [] }
  return store.write((writer) => writer.setPolicy(policy))
}

test('[POL-11] a name that the politica of one of the agents forbids is refused, with whose and which', async () => {
  await permit('shop', 'the shop', ['a.example'])
  await permit('*', 'everybody', ['a.example', 'b.example'])
  const agents = [
    { ...newAgent('db-1'), role: 'db' },
    { ...newAgent('shop-1'), role: 'shop' },
  ]
  const { reader } = store
  await refuseForbiddenSans(reader, agents, [])
  await refuseForbiddenSans(reader, agents, ['a.example'])
  await assert.rejects(refuseForbiddenSans(reader, agents, ['a.example', 'b.example']), {
    code: 'san_forbidden',
    message: 'agent shop-1 of role shop may not have the name b.example: policy the shop',
  })
  await assert.rejects(refuseForbiddenSans(reader, agents, ['c.example']), {
    message: 'agent db-1 of role db may not have the name c.example: policy everybody',
  })
  await refuseForbiddenSans(reader, agents.slice(1), ['shop-1'])
})

test('[DEL-13] a file that another entrega of the agent writes is refused, whatever its tipo and its case', async () => {
  const agent = await insertAgent(store, 'web-1')
  const other = await insertAgent(store, 'web-2')
  const deliver = async (name: string, kind: Cargo['kind'], whom: Agent) => {
    const cargo = { ...newCargo(name), kind }
    await store.write((writer) => writer.insertCargo(cargo))
    return insertDelivery(store, whom.id, cargo)
  }
  await deliver('Site', 'csr_cert', agent)
  const file = await deliver('motd', 'push', agent)
  const refuse = (name: string, kind: Cargo['kind'], agents = [other, agent]): Promise<void> =>
    refuseSameFiles(store.reader, agents, { ...newCargo(name), kind })
  await assert.rejects(refuse('site', 'csr_cert'), {
    code: 'nome_taken',
    message: 'agent web-1 has a delivery named Site already, which writes Site.crt',
  })
  await assert.rejects(refuse('SITE.KEY', 'selado'), {
    message: 'agent web-1 has a delivery named Site already, which writes Site.key',
  })
  await assert.rejects(refuse('MOTD', 'selado'), {
    message: 'agent web-1 has a delivery named motd already, which writes motd',
  })
  await refuse('site', 'selado')
  await refuse('motd', 'csr_cert')
  await refuse('site', 'csr_cert', [other])
  await store.write((writer) => writer.cancelDeliveries([file.id], NOW))
  await refuse('motd', 'push')
})
