import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertCargo, newCargo, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Policy } from '../../domain/policy.ts'
import type { Store } from '../../store/store.ts'
import {
  changePolicy,
  emptyPolicy,
  findAutomaticCargoes,
  refuseForbiddenNames,
} from './parse-policy.ts'

const EMPTY: Policy = {
  role: 'web',
  name: 'web',
  tokenTtlSecondsMax: null,
  certTtlSeconds: null,
  permittedSans: ['*'],
  areSansNamed: false,
  mayOperatorsReenroll: false,
  automaticCargoes: [],
}
const FULL: Policy = {
  role: 'web',
  name: 'shop',
  tokenTtlSecondsMax: 600,
  certTtlSeconds: 7200,
  permittedSans: ['*.shop.example'],
  areSansNamed: true,
  mayOperatorsReenroll: true,
  automaticCargoes: [],
}
const HUB_NAMES = ['hub.example', '*.hub.example']

type Change = Omit<Parameters<typeof changePolicy>[1], 'role'>

const change = (request: Change, old = EMPTY): Policy =>
  changePolicy(old, { role: 'web', ...request }, HUB_NAMES)

describe('a politica', () => {
  test('[POL-1] [POL-9] bounds nothing at first, and has the name of its role', () => {
    assert.deepEqual(emptyPolicy('web'), EMPTY)
  })

  test('[POL-1] changes in what is named, and in nothing else', () => {
    assert.deepEqual(change({}, FULL), FULL)
    assert.deepEqual(
      change({
        nome: 'shop',
        token_ttl_max: 600,
        cert_ttl: 7200,
        sans_permitidos: ['*.shop.example'],
        reenroll: true,
      }),
      FULL,
    )
    assert.deepEqual(change({ token_ttl_max: null, cert_ttl: null }, FULL), {
      ...FULL,
      tokenTtlSecondsMax: null,
      certTtlSeconds: null,
    })
    assert.equal(change({ reenroll: false }, FULL).mayOperatorsReenroll, false)
  })

  test('[POL-9] [POL-18] names what it permits once somebody said so, be it all or nothing', () => {
    for (const [asked, permitted] of [
      [['*', 'no name!', 'hub.example'], ['*']],
      [[], []],
      [
        ['a.example', '*.b.example', '192.0.2.7', '2001:db8::1', 'a.example'],
        ['a.example', '*.b.example', '192.0.2.7', '2001:db8::1'],
      ],
      [['*.example'], ['*.example']],
    ] as const) {
      const { permittedSans, areSansNamed } = change({ sans_permitidos: [...asked] })
      assert.deepEqual([permittedSans, areSansNamed], [permitted, true])
    }
  })
})

describe('a politica is refused', () => {
  for (const [title, request, code, message] of [
    [
      '[POL-1] [TOK-3] a token_ttl_max of more than seven days',
      { token_ttl_max: 604_801 },
      'ttl_too_long',
      'a token lives 7d at most',
    ],
    [
      '[POL-8] a cert_ttl of less than a quarter of an hour',
      { cert_ttl: 899 },
      'cert_ttl_too_short',
      'a certificate lives 15m at least',
    ],
    [
      '[POL-8] a cert_ttl of more than ten years',
      { cert_ttl: 3650 * 86_400 + 1 },
      'cert_ttl_too_long',
      'a certificate lives 3650d at most',
    ],
    [
      '[POL-9] what is no name',
      { sans_permitidos: ['a.example', 'A.example'] },
      'san_invalid',
      'A.example is neither a name, *.suffix nor an IP address',
    ],
    [
      '[POL-9] a name of the hub',
      { sans_permitidos: ['hub.example'] },
      'san_reserved',
      'hub.example is a name of the hub itself',
    ],
    [
      '[POL-9] a name that a wildcard of the hub covers',
      { sans_permitidos: ['x.hub.example'] },
      'san_reserved',
      'x.hub.example is a name of the hub itself',
    ],
  ] satisfies [string, Change, string, string][]) {
    test(title, () => assert.throws(() => change(request), { code, message }))
  }

  test('[TOK-3] [POL-8] at the bounds none is', () => {
    assert.equal(change({ token_ttl_max: 604_800 }).tokenTtlSecondsMax, 604_800)
    assert.equal(change({ cert_ttl: 900 }).certTtlSeconds, 900)
    assert.equal(change({ cert_ttl: 3650 * 86_400 }).certTtlSeconds, 315_360_000)
  })
})

describe('the cargas that a politica gives', () => {
  let store: Store & AsyncDisposable
  before(async () => {
    store = await openTemporaryStore()
  })
  after(() => store[Symbol.asyncDispose]())

  const find = (asked: readonly string[] | undefined, policy = EMPTY): Promise<readonly Cargo[]> =>
    findAutomaticCargoes(store.reader, policy, asked)

  async function insert(changes: Partial<Cargo>): Promise<Cargo> {
    const cargo = { ...newCargo('x'), ...changes }
    await store.write((writer) => writer.insertCargo(cargo))
    return cargo
  }

  test('[POL-12] are those that are asked for, each once, in their order', async () => {
    const [one, other] = [await insertCargo(store, 'one'), await insertCargo(store, 'other')]
    assert.deepEqual(await find([other.id, one.id, other.id]), [other, one])
    assert.deepEqual(await find([], { ...EMPTY, automaticCargoes: [one.id] }), [])
  })

  test('[POL-1] [POL-14] are those that it has when none are asked for, without what was removed since', async () => {
    const kept = await insertCargo(store, 'kept')
    const gone = await insert({ name: 'gone' as Cargo['name'], removedAt: NOW })
    const policy = { ...EMPTY, automaticCargoes: [gone.id, kept.id] }
    assert.deepEqual(await find(undefined, policy), [kept])
  })

  test('[POL-12] are refused when there is none, when they are no csr_cert, and when two write one file', async () => {
    const gone = await insert({ removedAt: NOW })
    for (const id of ['00000000-0000-4000-8000-000000000000', gone.id]) {
      await assert.rejects(find([id]), { code: 'cargo_not_found', message: `no load ${id}` })
    }
    for (const kind of ['selado', 'push'] as const) {
      const { id } = await insert({ kind, name: 'secret' as Cargo['name'] })
      await assert.rejects(find([id]), {
        code: 'cargo_not_automatic',
        message: `load secret is of type ${kind}`,
      })
    }
    const [upper, lower] = [await insertCargo(store, 'Site'), await insertCargo(store, 'site')]
    await assert.rejects(find([upper.id, lower.id]), {
      code: 'nome_taken',
      message: `loads ${upper.id} and ${lower.id} both write Site.crt on the host`,
    })
  })

  test('[POL-12] have no name that it forbids', () => {
    const cargo = { ...newCargo('site'), sans: ['a.shop.example', 'b.example'] }
    assert.equal(refuseForbiddenNames(EMPTY, [cargo]), undefined)
    assert.throws(() => refuseForbiddenNames(FULL, [newCargo('x'), cargo].slice(1)), {
      code: 'san_forbidden',
      message: 'the automatic load site has the name b.example, which the policy does not permit',
    })
  })
})
