import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newCargo, NOW } from '../../../test/store/store-samples.ts'
import type { AgentId, DeliveryId } from '../../protocol/identifiers.ts'
import { parseSelector, type Selector } from '../../protocol/selector.ts'
import type { Cargo } from './cargo.ts'
import {
  decideSelected,
  findWaitingReason,
  type SelectedHost,
  type StandingDelivery,
} from './decide-selected.ts'

const AGENT = 'agent' as AgentId

function selectorOf(text: string): Selector {
  const parsed = parseSelector(text)
  return parsed.ok ? parsed.selector : assert.fail(parsed.message)
}

function selected(name: string, where: string, changes: Partial<Cargo> = {}) {
  return { cargo: { ...newCargo(name), where, ...changes }, selector: selectorOf(where) }
}

function host(changes: Partial<SelectedHost> = {}): SelectedHost {
  return {
    hostname: 'web-1.example.org',
    role: 'web',
    labels: new Map([['env', 'prod']]),
    standing: [],
    rules: { policyName: undefined, permittedSans: ['*'], narrowing: [] },
    ...changes,
  }
}

const has = (cargo: Cargo, version = cargo.version): StandingDelivery => ({
  id: `of ${cargo.id}` as DeliveryId,
  cargoId: cargo.id,
  agentId: AGENT,
  status: 'instalada',
  updatedAt: NOW,
  error: null,
  version,
  sans: cargo.sans,
  replacedBy: null,
  cargo,
})

describe('[LBL-19] a host gets each carga whose selector it matches', () => {
  test('and that it does not have', () => {
    const site = selected('site', 'role=web')
    const shop = selected('shop', 'env=prod,!canary')
    const other = selected('other', 'role=db')
    const cargoes = [site, shop, other]
    assert.deepEqual(decideSelected(host(), cargoes).given, [site.cargo, shop.cargo])
    const standing = [has(site.cargo)]
    assert.deepEqual(decideSelected(host({ standing }), cargoes).given, [shop.cargo])
  })

  test('[LBL-20] an older version is replaced, also on a host that no longer matches', () => {
    const site = selected('site', 'role=db', { version: 3 })
    const old = { ...has(site.cargo, 2), sans: ['old.example.org'] }
    const { given, outdated } = decideSelected(host({ standing: [old] }), [site])
    assert.deepEqual([given, outdated], [[], [{ old, cargo: site.cargo }]])
    assert.deepEqual(decideSelected(host({ standing: [has(site.cargo)] }), [site]).outdated, [])
    // As after a rollout that was undone: nothing about it is different.
    assert.deepEqual(decideSelected(host({ standing: [has(site.cargo, 2)] }), [site]).outdated, [])
  })

  test('[LBL-20] a sealed one is only sealed anew', () => {
    const secret = selected('secret', 'role=web', { kind: 'selado', version: 2 })
    const standing = [has(secret.cargo, 1)]
    const none = { given: [], outdated: [] }
    assert.deepEqual(decideSelected(host({ standing }), [secret]), none)
  })
})

describe('[LBL-21] a host that matches waits', () => {
  const site = selected('site', 'role=web')
  const waits = (changes: Partial<SelectedHost>, ...cargoes: (typeof site)[]) => {
    const one = host(changes)
    const { given } = decideSelected(one, cargoes)
    const had = [...one.standing.map(({ cargo }) => cargo), ...given]
    const left = cargoes.filter(({ cargo }) => !given.includes(cargo))
    return left.map(({ cargo }) => [cargo.name, findWaitingReason(cargo, one, had)])
  }

  test('for somebody to seal it', () => {
    const secret = selected('secret', 'role=web', { kind: 'selado' })
    assert.deepEqual(waits({}, secret), [['secret', { code: 'not_sealed' }]])
  })

  test('while another carga writes its file; of two new ones the older is given', () => {
    const rival = newCargo('SITE')
    const taken = ['site', { code: 'nome_taken', rival }]
    assert.deepEqual(waits({ standing: [has(rival)] }, site), [taken])
    const again = selected('site', 'env')
    const expected = [['site', { code: 'nome_taken', rival: site.cargo }]]
    assert.deepEqual(waits({}, site, again), expected)
  })

  test('while its politica forbids a name', () => {
    const shop = selected('shop', 'role=web', { sans: ['shop.example.org'] })
    const rules = { policyName: 'web', permittedSans: ['*.example.net'], narrowing: [] }
    const reason = { code: 'san_forbidden', san: 'shop.example.org' }
    assert.deepEqual(waits({ rules }, shop), [['shop', reason]])
  })
})
