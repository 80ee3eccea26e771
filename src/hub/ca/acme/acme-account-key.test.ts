import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint, flattenedVerify, importJWK } from 'jose'
import { Secret } from '../../../platform/secret.ts'
import {
  keyAuthorization,
  parseAccountKey,
  signExternalAccount,
  signRequest,
} from './acme-account-key.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const PEM = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
const URL = 'https://acme.example/new'

test('[CAX-27] a request is signed as others verify it, by key or by account', async () => {
  const key = parseAccountKey(PEM)
  const signed = { url: URL, nonce: 'n-1', payload: { a: 1 } }
  for (const kid of [undefined, 'https://acme.example/account/1']) {
    const jws = JSON.parse(signRequest(key, { ...signed, kid })) as Parameters<
      typeof flattenedVerify
    >[0]
    const { payload, protectedHeader } = await flattenedVerify(
      jws,
      await importJWK(key.jwk, 'ES256'),
    )
    assert.equal(Buffer.from(payload).toString(), '{"a":1}')
    const whose = kid === undefined ? { jwk: key.jwk } : { kid }
    assert.deepEqual(protectedHeader, { alg: 'ES256', nonce: 'n-1', url: URL, ...whose })
  }
  const read = JSON.parse(signRequest(key, { ...signed, kid: 'k', payload: null })) as {
    payload: string
  }
  assert.equal(read.payload, '')
})

test('[CAX-27] an external account is bound by its MAC to this key', async () => {
  const key = parseAccountKey(PEM)
  const mac = Buffer.alloc(32, 'm')
  const bound = signExternalAccount(key, { kid: 'e-1', key: new Secret(mac) }, URL)
  const { payload, protectedHeader } = await flattenedVerify(
    bound as Parameters<typeof flattenedVerify>[0],
    new Uint8Array(mac),
  )
  assert.deepEqual(JSON.parse(Buffer.from(payload).toString()), key.jwk)
  assert.deepEqual(protectedHeader, { alg: 'HS256', kid: 'e-1', url: URL })
})

test('[CAX-30] what proves a name is the token and the thumbprint of RFC 7638', async () => {
  const key = parseAccountKey(PEM)
  assert.equal(keyAuthorization('t', key), `t.${await calculateJwkThumbprint(key.jwk)}`)
})

test('an account key is a private P-256 key, and is never quoted', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const other = rsa.export({ format: 'pem', type: 'pkcs8' }).toString()
  for (const [text, why] of [
    [other, 'is not an EC key on P-256'],
    ['secret words', 'is no private key in PEM'],
    ['', 'is no private key in PEM'],
  ] as const) {
    assert.throws(() => parseAccountKey(text), { message: `SVC_ACME_ACCOUNT_KEY: it ${why}` })
  }
  assert.ok(!JSON.stringify(parseAccountKey(PEM)).includes('PRIVATE'))
})
