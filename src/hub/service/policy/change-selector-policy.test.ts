import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Store } from '../../store/store.ts'
import { policyTag } from './policy-tag.ts'

const EMPTY = {
  token_ttl_max: null,
  cert_ttl: null,
  sans_permitidos: ['*'],
  sans_nomeados: false,
  cargas_automaticas: [],
  reenroll: null,
}

let store: Store & AsyncDisposable
let admin: AdminOperations
let tried: number[]
let seq: number

before(async () => {
  store = await openTemporaryStore()
  const tryLifetime = async (seconds: number) => {
    tried.push(seconds)
    return { serial: '1', revoked: true }
  }
  ;({ admin } = openAdmin(store, { tryLifetime }))
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  tried = []
  for (const { role } of await store.reader.listPolicies()) await admin.removePolicy({ role })
  for (const { name: nome } of await store.reader.listSelectorPolicies()) {
    await admin.removeSelectorPolicy({ nome })
  }
  seq = await lastSeq(store.reader)
})

const acts = () => readActs(store.reader, seq)

describe('svc politica set --where', () => {
  test('[POL-20] [POL-24] makes the politica of a name, changes what is named of it, and records each', async () => {
    const made = { where: 'env=prod,!canary', nome: 'prod', ...EMPTY }
    const first = await admin.setSelectorPolicy({ nome: 'prod', where: ' env == prod , !canary' })
    assert.deepEqual(first, { ...made, cargas_afetadas: [] })
    const changed = { ...made, cert_ttl: 7200, reenroll: false }
    await admin.setSelectorPolicy({ nome: 'prod', cert_ttl: 7200, reenroll: false })
    const moved = { ...changed, where: 'env in (prod,live)', reenroll: null }
    await admin.setSelectorPolicy({ nome: 'prod', where: 'env in (prod, live)', reenroll: null })
    const trial = { serial: '1', revoked: true }
    assert.deepEqual(await acts(), [
      ['politica_set', { actor: 'admin', ...made }],
      ['politica_set', { actor: 'admin', ...changed, trial }],
      ['politica_set', { actor: 'admin', ...moved }],
    ])
    assert.deepEqual(tried, [7200])
    assert.deepEqual(await admin.listSelectorPolicies({}), { politicas: [moved], next: null })
    assert.deepEqual((await admin.listPolicies({})).politicas, [])
    assert.deepEqual(await admin.removeSelectorPolicy({ nome: 'prod' }), moved)
    assert.deepEqual((await acts()).at(-1), ['politica_removed', { actor: 'admin', ...moved }])
    assert.deepEqual(await store.reader.listSelectorPolicies(), [])
  })

  test('[POL-20] is refused without a selector that decides, and costs the CA nothing then', async () => {
    const set = (where?: string): Promise<unknown> =>
      admin.setSelectorPolicy({ nome: 'prod', cert_ttl: 7200, ...(where && { where }) })
    await assert.rejects(set(), {
      code: 'politica_not_found',
      message: 'no policy with a selector is named prod',
    })
    await assert.rejects(set('env=prod,host.os=linux'), {
      code: 'selector_reported',
      message: 'where: the agents themselves say what host.os is',
    })
    await assert.rejects(set('env=prod,,'), {
      code: 'selector_invalid',
      message: 'where, column 10: "," where a key belongs',
    })
    assert.deepEqual([tried, await acts()], [[], []])
  })

  test('[POL-20] has a name that no other politica has, whatever chooses its hosts', async () => {
    await admin.setPolicy({ role: 'web', nome: 'shop' })
    await assert.rejects(admin.setSelectorPolicy({ nome: 'shop', where: 'env=prod' }), {
      code: 'nome_taken',
      message: 'the policy of role web is named shop already',
    })
    await admin.setSelectorPolicy({ nome: 'db', where: 'env=prod' })
    await assert.rejects(admin.setPolicy({ role: 'db' }), {
      code: 'nome_taken',
      message: 'a policy with a selector is named db already',
    })
    await admin.setPolicy({ role: 'db', nome: 'of db' })
  })

  test('[POL-20] is refused beyond a hundred, and then changes those that are there', async () => {
    await store.write(async (writer) => {
      for (let at = 0; at < 100; at += 1) {
        const selector = { terms: [{ key: 'env', values: [`e${at}`], isNegated: false }] }
        await writer.setSelectorPolicy({
          name: `p${at}`,
          selector,
          tokenTtlSecondsMax: null,
          certTtlSeconds: null,
          permittedSans: ['*'],
          areSansNamed: false,
          automaticCargoes: [],
          mayOperatorsReenroll: null,
        })
      }
    })
    await assert.rejects(admin.setSelectorPolicy({ nome: 'more', where: 'env=prod' }), {
      code: 'too_many_politicas',
      message: 'at most 100 policies have selectors',
    })
    await admin.setSelectorPolicy({ nome: 'p7', token_ttl_max: 60 })
    const page = await admin.listSelectorPolicies({ after: 'p98', limit: 2 })
    assert.deepEqual([page.politicas.map(({ nome }) => nome), page.next], [['p99'], null])
    const first = await admin.listSelectorPolicies({ limit: 2 })
    assert.deepEqual([first.politicas.map(({ nome }) => nome), first.next], [['p0', 'p1'], 'p1'])
  })

  test('[POL-8] [POL-9] [POL-12] is bounded as that of a role', async () => {
    const set = (rest: object): Promise<unknown> =>
      admin.setSelectorPolicy({ nome: 'prod', where: 'env=prod', ...rest })
    await assert.rejects(set({ cert_ttl: 899 }), { code: 'cert_ttl_too_short' })
    await assert.rejects(set({ token_ttl_max: 604_801 }), { code: 'ttl_too_long' })
    await assert.rejects(set({ sans_permitidos: ['x.hub.test'] }), { code: 'san_reserved' })
    const { id } = await insertCargo(store, 'automatic')
    await assert.rejects(set({ cargas_automaticas: [id], sans_permitidos: [] }), {
      code: 'san_forbidden',
    })
    await set({ cargas_automaticas: [id] })
  })

  test('[API-18] is for whoever has seen it', async () => {
    const seen = await admin.setSelectorPolicy({ nome: 'prod', where: 'env=prod' })
    const etag = policyTag(seen)
    await admin.setSelectorPolicy({ nome: 'prod', where: 'env=stage', etag })
    const again = { code: 'politica_changed', message: 'the policy prod has changed' }
    await assert.rejects(admin.setSelectorPolicy({ nome: 'prod', etag }), again)
    await assert.rejects(admin.removeSelectorPolicy({ nome: 'prod', etag }), again)
  })

  test('[POL-27] is refused while a hub shares the vault that would pass over it', async () => {
    const hub: AdminHubRow = {
      id: 'one',
      host: 'one.example',
      version: '0.4.0',
      tables: 40,
      started_at: null,
      state: 'running',
      last_beat_at: NOW.toISOString(),
      silent_ms: 0,
      behind: 0,
      clock_ahead_ms: 0,
      leases: [],
      is_this: false,
    }
    const own = { ...hub, id: 'own', tables: 42, is_this: true }
    const among = async (older: AdminHubRow): Promise<unknown> => {
      const hubs = { list: async () => [older, own], remove: async () => {} }
      const request = { nome: 'prod', where: 'env=prod' }
      return openAdmin(store, { hubs }).admin.setSelectorPolicy(request)
    }
    const refused = {
      code: 'hubs_older',
      message:
        'hub one at one.example has version 0.4.0, and would not keep to a policy with a selector',
    }
    await assert.rejects(among(hub), refused)
    await assert.rejects(among({ ...hub, state: 'silent' }), refused)
    await among({ ...hub, state: 'stopped' })
    await among({ ...hub, tables: 42 })
  })
})

test('[POL-11] [POL-25] svc politica show says which hosts match now, and what it forbids of what they have', async () => {
  const [prod, stage, revoked] = [
    await insertAgent(store, 'p-1'),
    await insertAgent(store, 's-1'),
    await insertAgent(store, 'r-1'),
  ]
  await store.write((writer) => writer.updateAgent({ ...revoked, revokedAt: NOW }))
  const cargo = await insertCargo(store, 'site')
  for (const { id } of [prod, stage, revoked]) await insertDelivery(store, id, cargo)
  for (const agente of ['p-1', 'r-1']) await admin.labelAgents({ agente, set: { env: 'prod' } })
  const bounded = { nome: 'prod', where: 'env=prod', sans_permitidos: ['www.example.org'] }
  const affected = (agentes: readonly string[]) => [
    { carga_id: cargo.id, nome: 'site', sans: ['192.0.2.1'], agentes },
  ]
  const set = await admin.setSelectorPolicy(bounded)
  assert.deepEqual(set.cargas_afetadas, affected(['p-1']))
  await admin.labelAgents({ agente: 's-1', set: { env: 'prod' } })
  const shown = await admin.showSelectorPolicy({ nome: 'prod' })
  assert.deepEqual(
    [shown.agentes, shown.cargas_afetadas],
    [['p-1', 's-1'], affected(['p-1', 's-1'])],
  )
  await assert.rejects(admin.showSelectorPolicy({ nome: 'web' }), {
    code: 'politica_not_found',
    message: 'no policy with a selector is named web',
  })
})
