import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  newAgent,
} from '../../../../test/store/store-samples.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminRehearsal } from '../../../protocol/admin/operation.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Store } from '../../store/store.ts'
import { toAdminPolicy } from '../admin-views.ts'
import { policyTag } from './policy-tag.ts'

const EMPTY = {
  token_ttl_max: null,
  cert_ttl: null,
  sans_permitidos: ['*'],
  sans_nomeados: false,
  cargas_automaticas: [],
  reenroll: false,
}

let store: Store & AsyncDisposable
let admin: AdminOperations
let seq: number

before(async () => {
  store = await openTemporaryStore()
  const tryLifetime = () => Promise.resolve({ serial: '1', revoked: true })
  ;({ admin } = openAdmin(store, { tryLifetime }))
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  for (const { role } of await store.reader.listPolicies()) await admin.removePolicy({ role })
  seq = await lastSeq(store.reader)
})

const acts = () => readActs(store.reader, seq)

async function tagOf(wanted: string): Promise<string> {
  const policy = (await store.reader.listPolicies()).find(({ role }) => role === wanted)
  return policyTag(toAdminPolicy(policy ?? assert.fail()))
}

describe('svc policy set', () => {
  test('[POL-1] [POL-16] makes the row of a role, changes what is named of it, and records each', async () => {
    const made = { role: 'web', nome: 'web', ...EMPTY }
    assert.deepEqual(await admin.setPolicy({ role: 'web' }), { ...made, cargas_afetadas: [] })
    const changed = { ...made, nome: 'shop', cert_ttl: 7200 }
    const reply = await admin.setPolicy({
      role: 'web',
      nome: 'shop',
      cert_ttl: 7200,
      untested: true,
    })
    assert.deepEqual(reply, { ...changed, cargas_afetadas: [] })
    const again = await admin.setPolicy({ role: 'web', reenroll: true })
    assert.deepEqual(again, { ...changed, reenroll: true, cargas_afetadas: [] })
    assert.deepEqual(await acts(), [
      ['politica_set', { actor: 'admin', ...made }],
      ['politica_set', { actor: 'admin', ...changed }],
      ['politica_set', { actor: 'admin', ...changed, reenroll: true }],
    ])
    assert.equal((await store.reader.listPolicies()).length, 1)
  })

  test('[POL-11] [POL-12] says which cargas it hits, as everybody sees them after the commit', async () => {
    const agent = await insertAgent(store, 'web-1')
    const cargo = await insertCargo(store, 'site')
    await insertDelivery(store, agent.id, cargo)
    const { cargas_afetadas } = await admin.setPolicy({ role: 'web', sans_permitidos: [] })
    assert.deepEqual(cargas_afetadas, [
      {
        carga_id: cargo.id,
        nome: 'site',
        sans: ['www.example.org', '192.0.2.1'],
        agentes: ['web-1'],
      },
    ])
    const given = { role: 'web', cargas_automaticas: [cargo.id] }
    await assert.rejects(admin.setPolicy(given), {
      code: 'san_forbidden',
      message:
        'the automatic load site has the name www.example.org, which the policy does not permit',
    })
    const permitted = await admin.setPolicy({ ...given, sans_permitidos: [...cargo.sans] })
    assert.deepEqual([permitted.cargas_automaticas, permitted.cargas_afetadas], [[cargo.id], []])
    const shown = await admin.showPolicy({ role: 'web' })
    assert.deepEqual(shown.agentes, ['web-1'])
  })

  test('[POL-28] [POL-29] says before what it would mean, and looks at no agent when nobody asks', async () => {
    const agent = { ...newAgent('fore-1'), role: 'fore' }
    await store.write((writer) => writer.insertAgent(agent))
    const cargo = await insertCargo(store, 'foreseen')
    await insertDelivery(store, agent.id, cargo)
    const wanted = { role: 'fore', sans_permitidos: [] }
    const rehearsal: object = await admin.setPolicy({ ...wanted, dry_run: true } as typeof wanted)
    const { politica } = rehearsal as AdminRehearsal
    const { id: carga_id, name: nome, sans } = cargo
    const cargas_afetadas = [{ carga_id, nome, sans, agentes: 1 }]
    assert.deepEqual(politica, { agentes: 1, cargas: 1, cargas_afetadas })
    assert.deepEqual(await acts(), [], 'nothing is written')
    await admin.setPolicy(wanted)
    const shown = await admin.showPolicy({ role: 'fore', agentes: false })
    assert.deepEqual([shown.agentes, shown.cargas_afetadas], [[], []])
    assert.deepEqual((await admin.showPolicy({ role: 'fore' })).agentes, ['fore-1'])
  })

  test('[POL-1] is refused for the name of another; nothing is written then', async () => {
    await admin.setPolicy({ role: 'web', nome: 'shop' })
    await assert.rejects(admin.setPolicy({ role: 'db', nome: 'shop' }), {
      code: 'nome_taken',
      message: 'the policy of role web is named shop already',
    })
    await admin.setPolicy({ role: 'web', nome: 'shop' })
    assert.deepEqual(
      (await acts()).map(([type]) => type),
      ['politica_set', 'politica_set'],
    )
  })

  test('[POL-9] is refused for a name of the hub', async () => {
    await assert.rejects(admin.setPolicy({ role: 'web', sans_permitidos: ['x.hub.test'] }), {
      code: 'san_reserved',
    })
    assert.deepEqual(await acts(), [])
  })

  test('[POL-1] of two at once that name one politica alike the second is refused', async () => {
    const both = await Promise.allSettled(
      ['web', 'db'].map((role) => admin.setPolicy({ role, nome: 'shop' })),
    )
    assert.deepEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })
})

describe('[API-18] whoever names the politica that they have seen', () => {
  const isOther = { code: 'politica_changed' }

  test('changes or removes that one, and none that somebody else has changed since', async () => {
    await admin.setPolicy({ role: 'web' })
    const etag = await tagOf('web')
    await admin.setPolicy({ role: 'web', cert_ttl: 7200, etag })
    await assert.rejects(admin.setPolicy({ role: 'web', cert_ttl: 3600, etag }), isOther)
    await assert.rejects(admin.removePolicy({ role: 'web', etag }), isOther)
    assert.equal((await acts()).length, 2)
    await admin.removePolicy({ role: 'web', etag: await tagOf('web') })
    assert.deepEqual(await store.reader.listPolicies(), [])
  })

  test('makes none where there is none, and of two at once one has seen it', async () => {
    await assert.rejects(admin.setPolicy({ role: 'web', etag: 'x' }), isOther)
    await admin.setPolicy({ role: 'web' })
    const etag = await tagOf('web')
    const both = [3600, 7200].map((cert_ttl) => admin.setPolicy({ role: 'web', cert_ttl, etag }))
    const ended = await Promise.allSettled(both)
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })
})

describe('svc politica remove', () => {
  test('[POL-4] [POL-16] records the row that it was, and says what the row of every role hits then', async () => {
    const agent = await insertAgent(store, 'db-1')
    await store.write((writer) => writer.updateAgent({ ...agent, role: 'db' }))
    const cargo = await insertCargo(store, 'db-site')
    await insertDelivery(store, agent.id, cargo)
    await admin.setPolicy({ role: 'db', cert_ttl: 7200 })
    await admin.setPolicy({ role: '*', sans_permitidos: [] })
    seq = await lastSeq(store.reader)
    const row = { role: 'db', nome: 'db', ...EMPTY, cert_ttl: 7200 }
    const { cargas_afetadas, ...removed } = await admin.removePolicy({ role: 'db' })
    assert.deepEqual(removed, row)
    assert.deepEqual(
      cargas_afetadas.map(({ nome, agentes }) => [nome, agentes]),
      [['db-site', ['db-1']]],
    )
    assert.deepEqual(await acts(), [['politica_removed', { actor: 'admin', ...row }]])
  })

  test('[POL-16] is refused, as show is, for a role without a row of its own', async () => {
    const without = {
      code: 'politica_not_found',
      message: 'role web has no policy of its own',
    }
    await assert.rejects(admin.removePolicy({ role: 'web' }), without)
    await assert.rejects(admin.showPolicy({ role: 'web' }), without)
    await admin.setPolicy({ role: '*' })
    await assert.rejects(admin.removePolicy({ role: 'web' }), without)
  })
})

test('[API-18] the tag of a politica is another one whenever any of it changes', () => {
  const policy = { role: 'web', nome: 'web', ...EMPTY }
  const tags = [
    policy,
    { ...policy, role: 'db' },
    { ...policy, nome: 'shop' },
    { ...policy, token_ttl_max: 60 },
    { ...policy, cert_ttl: 60 },
    { ...policy, sans_permitidos: [] },
    { ...policy, sans_nomeados: true },
    { ...policy, cargas_automaticas: ['x'] },
    { ...policy, reenroll: true },
  ].map(policyTag)
  assert.equal(new Set(tags).size, 9)
  assert.equal(policyTag({ ...policy }), tags[0])
})
