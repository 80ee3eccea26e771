import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { rsaKey } from '../../test/support/hostile-csr.ts'
import { isAcceptablePublicKey } from './keys.ts'
import { certifiedKeyTypeOf } from './public-key-bounds.ts'

const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).publicKey
const rsa = (modulusLength: number): KeyObject =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey

const KEYS: readonly (readonly [string, KeyObject, string | undefined])[] = [
  ['P-256', ec('prime256v1'), 'ec'],
  ['P-384', ec('secp384r1'), 'ec'],
  ['P-521', ec('secp521r1'), undefined],
  ['secp256k1', ec('secp256k1'), undefined],
  ['Ed25519', generateKeyPairSync('ed25519').publicKey, 'ed25519'],
  ['Ed448', generateKeyPairSync('ed448').publicKey, undefined],
  ['X25519', generateKeyPairSync('x25519').publicKey, undefined],
  ['RSA of 1,024 bits', rsa(1024), undefined],
  ['RSA of 2,048 bits', rsa(2048), 'rsa'],
  ['RSA-PSS', generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey, undefined],
]

for (const [what, key, type] of KEYS) {
  test(`[ENR-9] ${what} is ${type === undefined ? 'not ' : ''}certified, as OpenSSL reads it too`, () => {
    assert.equal(certifiedKeyTypeOf(key.export({ type: 'spki', format: 'der' })), type)
    assert.equal(isAcceptablePublicKey(key), type !== undefined)
  })
}

test('[ENR-9] RSA is certified from 2,048 to 4,096 bits', () => {
  const types = [2040, 2048, 4096, 4104].map((bits) => certifiedKeyTypeOf(rsaKey(bits, 17)))
  assert.deepEqual(types, [undefined, 'rsa', 'rsa', undefined])
})

test('[ENR-9] what is no key is not certified', () => {
  assert.equal(certifiedKeyTypeOf(Buffer.alloc(0)), undefined)
  assert.equal(
    certifiedKeyTypeOf(rsa(2048).export({ type: 'spki', format: 'der' }).subarray(1)),
    undefined,
  )
})
