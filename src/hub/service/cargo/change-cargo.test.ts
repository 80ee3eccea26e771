import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { CargoId, DeliveryId, Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'

const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let agents: readonly Agent[]
let seq: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  count += 1
  hub = openAdmin(store)
  agents = [await insertAgent(store, `a-${count}`), await insertAgent(store, `b-${count}`)]
  await store.write(async (writer) => {
    for (const { id } of agents) await writer.setRecipient(id, ONE)
  })
})

function sealedFor(whom: readonly Agent[], contentBytes = 10) {
  const destinatarios = whom.map(({ id }) => ({ agente: id, fingerprint: ONE_FINGERPRINT }))
  const conteudo = makeAgeFile(whom.length, contentBytes).toString('base64')
  return { conteudo, destinatarios, escrow: [] }
}

/** A carga for both of them, made before all that is looked at. */
async function create(isSealed = false, sans: string[] = ['a.example']) {
  const kind = isSealed
    ? { tipo: 'selado', agentes: [], sans: [], selado: sealedFor(agents) }
    : { tipo: 'csr_cert', agentes: agents.map(({ id }) => id), sans }
  const created = await hub.admin.createCargo({ nome: 'site', roles: [], ...kind })
  seq = await lastSeq(store.reader)
  hub.told.length = 0
  return created
}

const update = (carga: string, changes: Partial<AdminRequest<'updateCargo'>> = {}) =>
  hub.admin.updateCargo({ carga, ...changes })

async function assertUnchanged(carga: string): Promise<void> {
  const cargo = await store.reader.findCargo(carga as CargoId)
  assert.deepEqual([cargo?.version, cargo?.removedAt], [1, null])
  assert.deepEqual([await readActs(store.reader, seq), hub.told], [[], []])
}

function revoke([, other]: readonly Agent[]): Promise<void> {
  assert.ok(other)
  return store.write((writer) => writer.updateAgent({ ...other, revokedAt: NOW }))
}

describe('svc carga update', () => {
  test('[DEL-14] [DEL-16] [PSH-6] makes the next version, with a fresh entrega for each that has one', async () => {
    const { carga_id, entregas: old } = await create()
    const installed = old[0]?.id as DeliveryId
    await store.write((writer) => writer.setDeliveryStatus(installed, 'instalada', NOW, null))
    const { versao, entregas } = await update(carga_id, { sans: ['b.example'] })
    assert.equal(versao, 2)
    assert.deepEqual(
      entregas.map(({ hostname }) => hostname),
      agents.map(({ hostname }) => hostname),
    )
    const [first] = await store.reader.listDeliveries({
      agentId: entregas[0]?.agente_id as Agent['id'],
      statuses: ['pendente'],
    })
    assert.deepEqual([first?.version, first?.sans], [2, ['b.example']])
    assert.equal((await store.reader.findDelivery(installed))?.status, 'instalada')
    assert.equal((await store.reader.findDelivery(old[1]?.id as DeliveryId))?.status, 'substituida')
    const payload = { actor: 'admin', carga_id, nome: 'site', versao: 2, sans: ['b.example'] }
    assert.deepEqual(await readActs(store.reader, seq), [['carga_updated', payload]])
    assert.deepEqual(
      hub.told,
      agents.map(({ id }) => `agent ${id}`),
    )
  })

  test('[API-151] a host that has one version and is to have the next is one host', async () => {
    const { carga_id, entregas } = await create()
    const installed = entregas[0]?.id as DeliveryId
    await store.write((writer) => writer.setDeliveryStatus(installed, 'instalada', NOW, null))
    await update(carga_id, { sans: ['b.example'] })
    const { entregas: hosts, statuses } = await hub.admin.showCargo({ carga: carga_id })
    assert.deepEqual([hosts, statuses.pendente], [2, 2])
  })

  test('[DEL-14] keeps its names when none are said, and loses them when there are to be none', async () => {
    const { carga_id } = await create()
    await update(carga_id)
    const sansOf = async () => (await store.reader.findCargo(carga_id as CargoId))?.sans
    assert.deepEqual(await sansOf(), ['a.example'])
    await update(carga_id, { sans: [] })
    assert.deepEqual(await sansOf(), [])
  })

  test('[BLB-9] [BLB-10] takes a file for exactly the agents that have an entrega, without the revoked ones', async () => {
    const { carga_id } = await create(true)
    const [one] = agents
    await assert.rejects(update(carga_id, { selado: sealedFor(agents.slice(0, 1)) }), {
      code: 'recipients_incomplete',
      message: `the file is not sealed for exactly the agents of load site: not sealed for b-${count}`,
    })
    const stranger = await insertAgent(store, `c-${count}`)
    await store.write((writer) => writer.setRecipient(stranger.id, ONE))
    await assert.rejects(update(carga_id, { selado: sealedFor([...agents, stranger]) }), {
      code: 'recipients_incomplete',
      message: `the file is not sealed for exactly the agents of load site: sealed for c-${count}, without a delivery`,
    })
    await assertUnchanged(carga_id)
    await revoke(agents)
    const { entregas } = await update(carga_id, { selado: sealedFor(agents.slice(0, 1), 20) })
    assert.deepEqual(
      entregas.map(({ hostname }) => hostname),
      [one?.hostname],
    )
    const content = await store.reader.summarizeContent(carga_id as CargoId)
    const [[, payload] = []] = await readActs(store.reader, seq)
    const { agentes, sha256 } = payload as Record<string, unknown>
    assert.deepEqual([agentes, sha256], [[one?.hostname], content?.sha256])
  })

  test('[BLB-13] [API-18] twice at once from one version: the second is refused', async () => {
    const { carga_id } = await create()
    const both = [update(carga_id, { versao: 1 }), update(carga_id, { versao: 1 })]
    const ended = await Promise.allSettled(both)
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    await assert.rejects(update(carga_id, { versao: 1 }), { code: 'versao_changed' })
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })

  test('[BLB-9] [DEL-15] [POL-11] [POL-18] is refused for what does not belong to it, and for names that may not be', async () => {
    const { carga_id } = await create()
    for (const [changes, code] of [
      [{ selado: sealedFor(agents) }, 'content_unwanted'],
      [{ sans: ['x.hub.test'] }, 'san_reserved'],
      [{ sans: ['no name'] }, 'san_invalid'],
    ] as const) {
      await assert.rejects(update(carga_id, changes as never), { code })
    }
    await assert.rejects(hub.as('operator').updateCargo({ carga: carga_id, sans: ['b.example'] }), {
      code: 'san_forbidden',
    })
    await assertUnchanged(carga_id)
    await hub.as('operator').updateCargo({ carga: carga_id, sans: ['a.example'] })
  })

  test('[BLB-9] of a sealed file is refused with names, and without a file', async () => {
    const { carga_id } = await create(true)
    await assert.rejects(update(carga_id), { code: 'content_missing' })
    const sans = ['a.example']
    await assert.rejects(update(carga_id, { sans, selado: sealedFor(agents) }), {
      code: 'sans_unwanted',
    })
    await assertUnchanged(carga_id)
  })
})

describe('svc carga remove', () => {
  test('[DEL-9] [BLB-11] [FLT-6] cancels its entregas and takes its file away, and each is recorded and told', async () => {
    const { carga_id, entregas } = await create(true)
    const removed = await hub.admin.removeCargo({ carga: carga_id })
    assert.equal(removed.nome, 'site')
    assert.equal(await store.reader.findContent(carga_id as CargoId), undefined)
    for (const { id } of entregas) {
      assert.equal((await store.reader.findDelivery(id as DeliveryId))?.status, 'cancelada')
    }
    assert.deepEqual(await readActs(store.reader, seq), [
      ['entrega_cancelled', { actor: 'admin', carga_id }],
      ['entrega_cancelled', { actor: 'admin', carga_id }],
      ['carga_removed', { actor: 'admin', carga_id, nome: 'site' }],
    ])
    assert.deepEqual(
      hub.told,
      agents.map(({ id }) => `agent ${id}`),
    )
    await assert.rejects(update(carga_id), { code: 'cargo_not_found' })
  })

  test('[FLT-4] [API-18] of another version is refused; twice at once it is one removal', async () => {
    const { carga_id: carga } = await create()
    await assert.rejects(hub.admin.removeCargo({ carga, versao: 2 }), { code: 'versao_changed' })
    await assertUnchanged(carga)
    const both = [1, 2].map(() => hub.admin.removeCargo({ carga, versao: 1 }))
    const ended = await Promise.allSettled(both)
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.equal((await readActs(store.reader, seq)).length, 3)
  })
})
