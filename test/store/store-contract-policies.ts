// What every Store does with policies: a part of the suite in store-contract.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { CargoId } from '../../src/protocol/identifiers.ts'
import type { Policy, SelectorPolicy } from '../../src/hub/domain/policy.ts'
import type { Page, Store } from '../../src/hub/store/store.ts'

const WEB: Policy = {
  role: 'web',
  name: 'the web',
  tokenTtlSecondsMax: 1800,
  certTtlSeconds: 28_800,
  permittedSans: ['*.shop.example', '192.0.2.7'],
  areSansNamed: true,
  mayOperatorsReenroll: true,
  automaticCargoes: [randomUUID() as CargoId, randomUUID() as CargoId],
}
const EVERYBODY: Policy = {
  role: '*',
  name: '*',
  tokenTtlSecondsMax: null,
  certTtlSeconds: null,
  permittedSans: [],
  areSansNamed: false,
  mayOperatorsReenroll: false,
  automaticCargoes: [],
}

const PROD: SelectorPolicy = {
  name: 'prod',
  selector: {
    terms: [
      { key: 'env', values: ['prod', 'live'], isNegated: false },
      { key: 'canary', values: undefined, isNegated: true },
    ],
  },
  tokenTtlSecondsMax: 600,
  certTtlSeconds: 3600,
  permittedSans: ['*.prod.example'],
  areSansNamed: true,
  mayOperatorsReenroll: false,
  automaticCargoes: [randomUUID() as CargoId],
}

export function testPolicies(store: () => Store): void {
  const set = (policy: Policy): Promise<void> => store().write((writer) => writer.setPolicy(policy))

  test('[POL-1] a role has one policy, the last, field for field', async () => {
    await set({ ...EVERYBODY, role: 'web', name: 'first' })
    await set(WEB)
    await set(EVERYBODY)
    assert.deepEqual(await store().reader.listPolicies(), [EVERYBODY, WEB])
  })

  test('[API-15] a page of policies starts after a role, also after one that went', async () => {
    const { reader } = store()
    const roles = async (page: Page): Promise<string[] | undefined> =>
      (await reader.pagePolicies(page))?.map(({ role }) => role)
    for (const policy of [WEB, EVERYBODY, { ...WEB, role: 'db', name: 'db' }]) await set(policy)
    assert.deepEqual(await roles({ limit: 2 }), ['*', 'db'])
    await store().write((writer) => writer.removePolicy('db'))
    assert.deepEqual(await roles({ after: 'db', limit: 2 }), ['web'])
    assert.deepEqual(await roles({ after: 'web', limit: 2 }), [])
  })

  test('[POL-2] those that can say something of a role are its own and that of every role', async () => {
    await set(WEB)
    await set(EVERYBODY)
    await set({ ...WEB, role: 'db', name: 'db' })
    const rolesFor = async (role: string): Promise<string[]> =>
      (await store().reader.findPolicies(role)).map((policy) => policy.role).sort()
    assert.deepEqual(await rolesFor('web'), ['*', 'web'])
    assert.deepEqual(await rolesFor('WEB'), ['*'])
    assert.deepEqual(await rolesFor('*'), ['*'])
  })

  test('[POL-4] a policy that is removed is gone, and the others stay', async () => {
    await set(WEB)
    await set(EVERYBODY)
    await store().write((writer) => writer.removePolicy('web'))
    assert.deepEqual(await store().reader.listPolicies(), [EVERYBODY])
    await assert.rejects(store().write((writer) => writer.removePolicy('web')))
  })

  test('[POL-20] a name has one policy with a selector, the last, field for field, by name', async () => {
    const put = (policy: SelectorPolicy): Promise<void> =>
      store().write((writer) => writer.setSelectorPolicy(policy))
    const others = [{ ...PROD, name: 'a', mayOperatorsReenroll: null }]
    await put({ ...PROD, tokenTtlSecondsMax: null, certTtlSeconds: null, automaticCargoes: [] })
    await put(PROD)
    for (const each of others) await put(each)
    assert.deepEqual(await store().reader.listSelectorPolicies(), [...others, PROD])
    await store().write((writer) => writer.removeSelectorPolicy('a'))
    assert.deepEqual(await store().reader.listSelectorPolicies(), [PROD])
    await assert.rejects(store().write((writer) => writer.removeSelectorPolicy('a')))
    assert.deepEqual(await store().reader.listPolicies(), [])
  })

  test('[POL-1] two roles have no policy of one name', async () => {
    await set(WEB)
    await assert.rejects(set({ ...EVERYBODY, name: WEB.name }), { code: 'store_conflict' })
    assert.deepEqual(await store().reader.listPolicies(), [WEB])
  })
}
