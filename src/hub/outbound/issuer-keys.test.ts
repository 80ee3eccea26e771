// The keys of issuers: docs/protocol.md JNR-20.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  type FakeIssuer,
  makeKey,
  type SigningKey,
  signToken,
  startIssuer,
} from '../../../test/fakes/issuer.ts'
import { NOW } from '../../../test/store/store-samples.ts'
import { createSettableClock, type SettableClock } from '../../../test/support/settable-clock.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'
import type { IssuerKeys } from '../domain/issuer-keys.ts'
import { createAddressLookup } from './address-lookup.ts'
import { createGetText } from './get-text.ts'
import { createIssuerKeys } from './issuer-keys.ts'

const HALF_MINUTE_MS = 30_000
const HOUR_MS = 3_600_000
const getText = createGetText(createAddressLookup(), () => [], '0.0.0')

let issuer: FakeIssuer
let clock: SettableClock
let keys: IssuerKeys

beforeEach(async () => {
  issuer = await startIssuer()
  clock = createSettableClock(NOW)
  keys = createIssuerKeys(getText, clock)
})
afterEach(() => issuer[Symbol.asyncDispose]())

const advance = (ms: number): void => clock.set(new Date(clock.now().getTime() + ms))

/** `ok`, or why not. */
async function verify(key: SigningKey | undefined = issuer.keys[0], keysUrl: string | null = null) {
  const token = signToken({ key: key ?? assert.fail('a key'), claims: { iss: issuer.url } })
  const proof = {
    method: 'jwt',
    useKey: '' as TokenHash,
    issuer: issuer.url,
    audience: 'a',
  } as const
  const rule = { ...proof, claims: [], hostnameClaim: null, keys: null, keysUrl }
  const verdict = await keys.verify(token, rule)
  return verdict.ok ? 'ok' : verdict.why
}

describe('[JNR-20] the keys of an issuer', () => {
  test('are asked for once; a new one is found, but no oftener than each half minute', async () => {
    assert.deepEqual(await Promise.all([verify(), verify(), verify()]), ['ok', 'ok', 'ok'])
    assert.equal(issuer.asked.length, 2)
    const next = makeKey()
    issuer.keys = [...issuer.keys, next]
    for (let at = 0; at < 5; at += 1) assert.equal(await verify(next), 'bad')
    assert.equal(issuer.asked.length, 2)
    advance(HALF_MINUTE_MS)
    assert.equal(await verify(next), 'ok')
    assert.equal(issuer.asked.length, 4)
  })

  test('are looked at again after ten minutes: what is no longer there counts no more', async () => {
    const [old] = issuer.keys
    assert.equal(await verify(old), 'ok')
    issuer.keys = [makeKey()]
    advance(599_000)
    assert.equal(await verify(old), 'ok')
    advance(2000)
    assert.equal(await verify(old), 'bad')
  })

  test('are good for a day while the issuer is away; before the first answer nobody can say', async () => {
    issuer.answer = () => ({ status: 500, body: '' })
    assert.deepEqual([await verify(), await verify()], ['unavailable', 'unavailable'])
    assert.equal(issuer.asked.length, 1)
    advance(HALF_MINUTE_MS)
    issuer.answer = undefined
    assert.equal(await verify(), 'ok')
    issuer.answer = () => ({ status: 500, body: '' })
    advance(HOUR_MS)
    assert.equal(await verify(), 'ok')
    advance(24 * HOUR_MS)
    assert.equal(await verify(), 'unavailable')
  })

  test('may be at a place that the rule names', async () => {
    assert.equal(await verify(undefined, `${issuer.url}/keys`), 'ok')
    assert.deepEqual(issuer.asked, ['/keys'])
  })

  const answers: [how: string, path: string, body: string][] = [
    [
      'a description of another issuer',
      '/.well-known/openid-configuration',
      '{"issuer":"https://evil.example","jwks_uri":"http://127.0.0.1:1/"}',
    ],
    [
      'a place of keys that the hub does not ask',
      '/.well-known/openid-configuration',
      '{"issuer":"ISSUER","jwks_uri":"http://169.254.169.254/latest"}',
    ],
    ['no place of keys', '/.well-known/openid-configuration', '{"issuer":"ISSUER"}'],
    ['what is no JSON', '/.well-known/openid-configuration', '<html>'],
    ['no keys', '/keys', '{"keys":[]}'],
    ['a secret among its keys', '/keys', '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}'],
    ['more than it should', '/keys', `{"keys":[${' '.repeat(300_000)}]}`],
  ]
  for (const [how, path, answer] of answers) {
    test(`${how} lets nobody in`, async () => {
      issuer.answer = (asked) =>
        asked === path ? { body: answer.replace('ISSUER', issuer.url) } : undefined
      assert.equal(await verify(), 'unavailable')
    })
  }
})
