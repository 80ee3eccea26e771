import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { CargoId, Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { emptyPolicy } from '../policy/parse-policy.ts'

const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let agent: Agent
let seq: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  hub = openAdmin(store)
  agent = await insertAgent(store, `web-${(count += 1)}`)
  await store.write((writer) => writer.setRecipient(agent.id, ONE))
  seq = await lastSeq(store.reader)
})

type Create = AdminRequest<'createCargo'>

const asked = (changes: Partial<Create> = {}): Create => {
  return {
    tipo: 'csr_cert',
    nome: 'site',
    agentes: [agent.hostname],
    roles: [],
    sans: [],
    ...changes,
  }
}
const create = (changes: Partial<Create> = {}, admin = hub.admin) =>
  admin.createCargo(asked(changes))

function sealed(file = makeAgeFile(1, 10)): Partial<Create> {
  const destinatarios = [{ agente: agent.id, fingerprint: ONE_FINGERPRINT }]
  const selado = { conteudo: file.toString('base64'), destinatarios, escrow: [] }
  return { tipo: 'selado', agentes: [], selado }
}

async function assertNothingMade(): Promise<void> {
  assert.deepEqual(await store.reader.listDeliveries({ agentId: agent.id }), [])
  assert.deepEqual([await readActs(store.reader, seq), hub.told], [[], []])
}

describe('svc carga create', () => {
  test('[DEL-4] [DEL-14] [PSH-6] makes a carga and an entrega for each agent, records it, and tells them', async () => {
    const sans = ['a.example', '*.b.example', 'a.example']
    const { carga_id, entregas } = await create({ sans, agentes: [agent.id, agent.hostname] })
    const [entrega, ...others] = entregas
    assert.equal(others.length, 0)
    assert.deepEqual([entrega?.agente_id, entrega?.hostname], [agent.id, agent.hostname])
    const [delivery] = await store.reader.listDeliveries({ agentId: agent.id })
    assert.deepEqual(
      [delivery?.id, delivery?.status, delivery?.version, delivery?.cargo.kind],
      [entrega?.id, 'pendente', 1, 'csr_cert'],
    )
    assert.deepEqual(delivery?.cargo.sans, ['a.example', '*.b.example'])
    const payload = {
      actor: 'admin',
      carga_id,
      tipo: 'csr_cert',
      nome: 'site',
      versao: 1,
      sans: ['a.example', '*.b.example'],
      agentes: [agent.hostname],
    }
    assert.deepEqual(await readActs(store.reader, seq), [['carga_created', payload]])
    assert.deepEqual(hub.told, [`agent ${agent.id}`])
  })

  test('[BLB-7] [BLB-10] takes a sealed file for the agents that it is sealed to', async () => {
    const file = makeAgeFile(1, 10)
    const { carga_id } = await create(sealed(file))
    const content = await store.reader.findContent(carga_id as CargoId)
    assert.deepEqual(Buffer.from(content?.bytes ?? []), file)
    const [[, payload] = []] = await readActs(store.reader, seq)
    const { agentes, sha256, bytes, escrow } = payload as Record<string, unknown>
    assert.deepEqual(
      [agentes, sha256, bytes, escrow],
      [[agent.hostname], content?.sha256, file.length, []],
    )
  })

  test('[POL-15] makes one for nobody yet, which a politica can give', async () => {
    const { entregas } = await create({ unassigned: true, agentes: [] })
    assert.deepEqual([entregas, hub.told], [[], []])
    await assert.rejects(create({ unassigned: true }), { code: 'agents_unwanted' })
  })
})

describe('svc carga create is refused', () => {
  for (const [title, request, code] of [
    ['for a tipo that nobody makes', { tipo: 'push' }, 'tipo_invalid'],
    ['[DEL-12] for a name that no file may have', { nome: '..' }, 'nome_invalid'],
    ['[DEL-15] for what is no name', { sans: ['A.example'] }, 'san_invalid'],
    ['[DEL-15] for a name of the hub', { sans: ['x.hub.test'] }, 'san_reserved'],
    ['[BLB-9] for a selado without a file', { tipo: 'selado' }, 'content_missing'],
    ['when it is for nobody', { agentes: [] }, 'no_recipient'],
    ['when an agent is unknown', { agentes: ['nobody'] }, 'agent_not_found'],
  ] as const) {
    test(title, async () => {
      await assert.rejects(create({ ...request } as Partial<Create>), { code })
      await assertNothingMade()
    })
  }

  test('[BLB-9] for a file with names, with agents, for nobody, or of another tipo', async () => {
    for (const [changes, code] of [
      [{ sans: ['a.example'] }, 'sans_unwanted'],
      [{ agentes: ['web'] }, 'agents_unwanted'],
      [{ unassigned: true }, 'unassigned_unwanted'],
      [{ tipo: 'csr_cert' }, 'content_unwanted'],
    ] as const) {
      const request = { ...sealed(), ...changes } as Partial<Create>
      await assert.rejects(create(request), { code })
    }
    await assertNothingMade()
  })

  test('[DEL-13] when one of the agents has that file; the others get nothing either', async () => {
    const other = await insertAgent(store, `other-${count}`)
    await insertDelivery(store, other.id, await insertCargo(store, 'SITE'))
    const agentes = [agent.hostname, other.hostname]
    await assert.rejects(create({ agentes }), { code: 'nome_taken' })
    await assertNothingMade()
  })

  test('[DEL-13] of two at once that write one file the second', async () => {
    const both = await Promise.allSettled([create(), create({ nome: 'Site' })])
    assert.deepEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })

  test('[POL-11] [POL-18] for names that the politica forbids, to an operator also for those that it does not name', async () => {
    const sans = ['a.example']
    const operator = hub.as('operator')
    const set = (permittedSans: readonly string[], areSansNamed: boolean): Promise<void> =>
      store.write((writer) =>
        writer.setPolicy({ ...emptyPolicy('web'), permittedSans, areSansNamed }),
      )
    await assert.rejects(create({ sans }, operator), { code: 'san_forbidden' })
    await set(['b.example'], true)
    await assert.rejects(create({ sans }), { code: 'san_forbidden' })
    await assertNothingMade()
    await set(['a.example'], true)
    await create({ sans }, operator)
    await create({ nome: 'mine' }, operator)
    await store.write((writer) => writer.removePolicy('web'))
  })

  test('[BLB-8] when an agent has another recipient by the commit', async () => {
    const changed = store.write((writer) =>
      writer.setRecipient(agent.id, 'age1pq1other' as Recipient),
    )
    await assert.rejects(create(sealed()), { code: 'recipient_changed' })
    await changed
    await assertNothingMade()
  })

  test('[AUT-16] when an agent is revoked by the commit', async () => {
    const revoked = store.write((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
    await assert.rejects(create(), { code: 'agent_revoked' })
    await revoked
    await assertNothingMade()
  })
})
