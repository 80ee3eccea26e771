import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decidePolicy,
  emptyPolitica,
  findLastChange,
  formOf,
  mergePolicy,
} from './describe-policy.ts'

const WEB = { kind: 'role', role: 'web' } as const
const PROD = { kind: 'where', nome: 'prod' } as const
const SEEN = {
  ...emptyPolitica(WEB),
  cert_ttl: 86_400,
  sans_permitidos: ['a.example', 'b.example'],
}

test('a form that nobody touched sets nothing', () => {
  assert.deepEqual(decidePolicy(WEB, SEEN, formOf(SEEN)), {
    faults: [],
    differences: [],
    bounds: {},
  })
})

test('what means the same is no difference', () => {
  const form = { ...formOf(SEEN), cert_ttl: '24h', sans_permitidos: ' a.example,\n\nb.example ' }
  assert.deepEqual(decidePolicy(WEB, SEEN, form).differences, [])
})

test('only what differs is set', () => {
  const form = { ...formOf(SEEN), cert_ttl: '', reenroll: 'yes', sans_permitidos: '' } as const
  const { bounds, differences } = decidePolicy(WEB, SEEN, form)
  assert.deepEqual(bounds, { cert_ttl: null, sans_permitidos: [], reenroll: true })
  assert.deepEqual(differences[0], { field: 'cert_ttl', before: '1d', after: '' })
})

test('what is no duration is a fault, and so is no selector', () => {
  assert.deepEqual(decidePolicy(WEB, SEEN, { ...formOf(SEEN), cert_ttl: '2 weeks' }).faults, [
    'cert_ttl',
  ])
  const none = emptyPolitica(PROD)
  assert.deepEqual(decidePolicy(PROD, none, formOf(none)).faults, ['where'])
})

test('who changed it last is of this politica, not of one with its name', () => {
  const entries = [
    { payload: { role: 'web', nome: 'prod', actor: 'a' } },
    { payload: { nome: 'prod', where: 'env=prod', actor: 'b' } },
    { payload: { role: 'db', nome: 'db', actor: 'c' } },
  ]
  assert.equal(findLastChange(PROD, entries)?.payload.actor, 'b')
  assert.equal(findLastChange(WEB, entries)?.payload.actor, 'a')
  assert.equal(findLastChange({ kind: 'role', role: '*' }, entries), undefined)
})

test('of two who change one politica, each setting is of who changed it; what both changed is named', () => {
  const present = { ...SEEN, token_ttl_max: 10_800, sans_permitidos: ['c.example'] }
  const form = {
    ...formOf(SEEN),
    // Typed in another way than the hub's, and no change.
    cert_ttl: '24h',
    sans_permitidos: 'd.example',
    reenroll: 'yes',
  } as const
  const { merged, clashes } = mergePolicy(WEB, SEEN, present, form)
  assert.deepEqual(clashes, ['sans_permitidos'])
  assert.deepEqual(decidePolicy(WEB, present, merged).bounds, {
    sans_permitidos: ['d.example'],
    reenroll: true,
  })
})
