import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertCertificate,
  insertDelivery,
  newCargo,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let agent: Agent
let isOnline: boolean
let seq: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  isOnline = false
  const told: string[] = []
  const announce = (ids: Iterable<string>): void => void told.push(...ids)
  hub = {
    ...openAdmin(store, {
      notifier: { announce, announceAll: assert.fail, isOnline: () => isOnline },
    }),
    told,
  }
  agent = await insertAgent(store, `web-${(count += 1)}`)
  seq = await lastSeq(store.reader)
})

type Push = Omit<AdminRequest<'pushToAgent'>, 'agente'>

const push = (request: Push, agente: string = agent.hostname) =>
  hub.admin.pushToAgent({ agente, ...request })

async function pushFile(conteudo: string, nome = 'motd', modo?: string) {
  const { entrega_id: id } = await push({ nome, conteudo, ...(modo !== undefined && { modo }) })
  const delivery = await store.reader.findDeliveryWithCargo(id as DeliveryId)
  return delivery ?? assert.fail()
}

describe('[PSH-10] what an operator asks of one agent', () => {
  test('[PSH-11] [PSH-13] is to look: written, recorded, and told to its stream', async () => {
    assert.deepEqual(await push({ acao: 'sync' }), { online: false })
    assert.deepEqual((await store.reader.findAgentRequests(agent.id)).syncAt, NOW)
    assert.deepEqual(hub.told, [agent.id])
    const payload = { actor: 'admin', agente_id: agent.id, hostname: agent.hostname }
    assert.deepEqual(await readActs(store.reader, seq), [['agent_sync_requested', payload]])
  })

  test('[PSH-12] [PSH-13] is to renew its identity: whichever it has now is none that fulfils that', async () => {
    isOnline = true
    assert.deepEqual(await push({ acao: 'rotate' }, agent.id), { online: true })
    const rotationOf = async () => (await store.reader.findAgentRequests(agent.id)).rotation
    assert.deepEqual(await rotationOf(), { at: NOW, afterSeq: 0 })
    const identity = await insertCertificate(store, agent.id)
    await push({ acao: 'rotate' })
    assert.deepEqual(await rotationOf(), { at: NOW, afterSeq: identity.seq })
    const types = (await readActs(store.reader, seq)).map(([type]) => type)
    assert.deepEqual(types, ['agent_rotate_requested', 'agent_rotate_requested'])
  })

  test('is refused for one that is unknown, revoked or removed, and for neither an acao nor a file', async () => {
    const revoked = await insertAgent(store, `gone-${count}`)
    await store.write((writer) => writer.updateAgent({ ...revoked, revokedAt: NOW }))
    await assert.rejects(push({ acao: 'sync' }, 'nobody'), { code: 'agent_not_found' })
    await assert.rejects(push({ acao: 'sync' }, revoked.id), {
      code: 'agent_revoked',
      message: `agent gone-${count} is revoked`,
    })
    for (const request of [
      {},
      { nome: 'motd' },
      { conteudo: 'x' },
      { acao: 'sync', nome: 'motd', conteudo: 'x' },
      { acao: 'sync', modo: '0644' },
    ] as Push[]) {
      await assert.rejects(push(request, 'nobody'), { code: 'request_invalid' })
    }
    assert.deepEqual([await readActs(store.reader, seq), hub.told], [[], []])
  })
})

describe('[PSH-22] a file that is pushed', () => {
  test('[PSH-23] [PSH-24] is a carga with one entrega; the log has its digest, and not its content', async () => {
    const { cargo, agentId, status, version } = await pushFile('hällo', 'motd', '0600')
    assert.deepEqual(
      [cargo.kind, cargo.name, cargo.sans, agentId, status, version],
      ['push', 'motd', [], agent.id, 'pendente', 1],
    )
    const content = await store.reader.findContent(cargo.id)
    assert.deepEqual(
      [Buffer.from(content?.bytes ?? []).toString(), content?.mode],
      ['hällo', 0o600],
    )
    const payload = {
      actor: 'admin',
      carga_id: cargo.id,
      tipo: 'push',
      nome: 'motd',
      versao: 1,
      agentes: [agent.hostname],
      sha256: '34ad26fb58ab74b1bca4d09e43dbcb3cd8a9ed1b0a1b4e5a4d1fd5f9b9a0d0c1',
      bytes: 6,
      modo: '0600',
    }
    assert.deepEqual(await readActs(store.reader, seq), [
      ['carga_created', { ...payload, sha256: content?.sha256 }],
    ])
    assert.deepEqual(hub.told, [agent.id])
  })

  test('[PSH-24] once more under its name is the next version, in the place of the one before', async () => {
    const first = await pushFile('one')
    await store.write((writer) => writer.setDeliveryStatus(first.id, 'entregue', NOW, null))
    const second = await pushFile('two', 'motd', '0640')
    assert.deepEqual([second.cargo.id, second.version], [first.cargo.id, 2])
    assert.equal((await store.reader.findDelivery(first.id))?.replacedBy, second.id)
    const content = await store.reader.findContent(second.cargo.id)
    assert.deepEqual([Buffer.from(content?.bytes ?? []).toString(), content?.mode], ['two', 0o640])
    const types = (await readActs(store.reader, seq)).map(([type]) => type)
    assert.deepEqual(types, ['carga_created', 'carga_updated'])
  })

  test('[PSH-24] has a version more with each push, and nothing to do with a file of another tipo', async () => {
    for (const version of [1, 2, 3]) assert.equal((await pushFile('x')).version, version)
    const sealed = { ...newCargo('secret'), kind: 'selado' } as const
    await store.write((writer) => writer.insertCargo(sealed))
    await insertDelivery(store, agent.id, sealed)
    await assert.rejects(push({ nome: 'secret', conteudo: 'x' }), { code: 'nome_taken' })
  })

  test('[PSH-24] twice at once is two versions of one carga', async () => {
    const [one, other] = await Promise.all([pushFile('one'), pushFile('two')])
    assert.equal(one.cargo.id, other.cargo.id)
    assert.deepEqual(new Set([one.version, other.version]), new Set([1, 2]))
  })

  test('[PSH-24] is another carga for another agent, or under another name', async () => {
    const ids = new Set<CargoId>()
    ids.add((await pushFile('one')).cargo.id)
    ids.add((await pushFile('one', 'issue')).cargo.id)
    agent = await insertAgent(store, `other-${count}`)
    ids.add((await pushFile('one')).cargo.id)
    assert.equal(ids.size, 3)
  })

  test('[DEL-13] is refused when another entrega writes that file', async () => {
    await insertDelivery(store, agent.id, await insertCargo(store, 'Site'))
    await assert.rejects(push({ nome: 'site.crt', conteudo: 'x' }), { code: 'nome_taken' })
    assert.deepEqual(await readActs(store.reader, seq), [])
  })

  for (const [title, request, code] of [
    ['a mode that lets everybody write', { modo: '0666' }, 'modo_invalid'],
    ['a mode by which its owner cannot read it', { modo: '0044' }, 'modo_invalid'],
    ['a mode with setuid', { modo: '4755' }, 'modo_invalid'],
    ['a mode that is no mode', { modo: 'rw' }, 'modo_invalid'],
    ['half a character', { conteudo: '\ud800' }, 'content_invalid'],
    ['more than 16 KiB', { conteudo: 'ä'.repeat(8193) }, 'content_too_large'],
    ['a name that no file may have', { nome: '../motd' }, 'nome_invalid'],
  ] as const) {
    test(`is refused for ${title}`, () =>
      assert.rejects(push({ nome: 'motd', conteudo: 'x', ...request }, 'nobody'), { code }))
  }

  test('may be empty, or of 16 KiB, and is 0644 when nobody says otherwise', async () => {
    const { cargo } = await pushFile('')
    assert.equal(await store.reader.findContentMode(cargo.id), 0o644)
    await pushFile('ä'.repeat(8192))
  })
})
