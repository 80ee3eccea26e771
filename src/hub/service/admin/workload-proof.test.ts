// Join rules for the tokens of platforms, as they are made: docs/protocol.md JNR-17.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { Store } from '../../store/store.ts'

const issuer = { url: 'https://issuer.example' }

let store: Store & AsyncDisposable
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(() => {
  count += 1
})

type Wanted = NonNullable<AdminRequest<'createJoinRule'>['jwt']>

const makeRule = (jwt: Partial<Wanted> = {}, name = `rule-${count}`) =>
  openAdmin(store).admin.createJoinRule({
    name,
    method: 'jwt',
    jwt: {
      issuer: issuer.url,
      audience: 'cartorio',
      claims: [{ claim: 'sub', values: ['repo:acme/infra:*'] }],
      ...jwt,
    },
    pattern: 'ci-*.example.org',
    role: 'ci',
    hosts_max: 3,
  })

describe('[JNR-17] a rule for tokens of a platform', () => {
  const cases: [jwt: Partial<Wanted>, code: string][] = [
    [{ issuer: 'http://elsewhere.example' }, 'issuer_invalid'],
    [{ issuer: 'https://169.254.169.254' }, 'issuer_invalid'],
    [{ issuer: 'not a URL' }, 'issuer_invalid'],
    [{ jwks_url: 'ftp://a.example' }, 'issuer_invalid'],
    [{ claims: [{ claim: 'sub', values: ['*'] }] }, 'claim_invalid'],
    [{ claims: [{ claim: 'iss', values: ['https://issuer.example'] }] }, 'claim_invalid'],
    [{ claims: [{ claim: '/aud/0', values: ['cartorio'] }] }, 'claim_invalid'],
    [{ claims: [{ claim: 'iat', values: ['1*'] }] }, 'claim_invalid'],
    [{ jwks: '{}' }, 'jwks_invalid'],
    [{ jwks: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' }, 'jwks_invalid'],
    [{ jwks: '{"keys":[{"kty":"RSA"}]}', jwks_url: 'https://a.example' }, 'request_invalid'],
  ]
  for (const [jwt, code] of cases) {
    test(`is refused as ${code} for ${JSON.stringify(jwt)}`, async () => {
      await assert.rejects(makeRule(jwt), { code })
    })
  }

  test('needs what its method needs, and nothing else', async () => {
    const { admin } = openAdmin(store)
    const rule = { pattern: 'a-*.example.org', role: 'a', hosts_max: 1 }
    const jwt = { issuer: issuer.url, audience: 'a', claims: [{ claim: 'a', values: ['b'] }] }
    const code = 'request_invalid'
    await assert.rejects(admin.createJoinRule({ ...rule, name: 'a', method: 'jwt' }), { code })
    await assert.rejects(admin.createJoinRule({ ...rule, name: 'a', method: 'token', jwt }), {
      code,
    })
  })

  test('is one of fifty for its issuer', async () => {
    const { join_rules } = await openAdmin(store).admin.listJoinRules({})
    for (let at = join_rules.length; at < 50; at += 1) await makeRule({}, `many-${count}-${at}`)
    await assert.rejects(makeRule(), { code: 'join_rules_too_many' })
    await openAdmin(store).admin.endJoinRule({ join_rule: `many-${count}-49` })
    await makeRule()
  })
})
