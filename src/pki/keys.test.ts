import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createCsrPem, parseCsrPem } from './csr.ts'
import {
  generateEcP256Key,
  generateKey,
  isAcceptablePublicKey,
  type KeyType,
  parsePrivateKeyPem,
} from './keys.ts'

/** A modulus of this size; that it is no product of two primes does not show. */
function rsaOfBits(bits: number): KeyObject {
  const modulus = randomBytes(bits / 8)
  modulus[0] = (modulus[0] ?? 0) | 0x80
  const n = modulus.toString('base64url')
  return createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })
}

test('[ENR-9] P-256, P-384, Ed25519 and RSA of 2048 to 4096 bits are certified', () => {
  for (const namedCurve of ['P-256', 'P-384']) {
    assert.ok(isAcceptablePublicKey(generateKeyPairSync('ec', { namedCurve }).publicKey))
  }
  assert.ok(isAcceptablePublicKey(generateKeyPairSync('ed25519').publicKey))
  for (const bits of [2048, 3072, 4096]) assert.ok(isAcceptablePublicKey(rsaOfBits(bits)))
})

test('[ENR-9] all other keys are not', () => {
  for (const namedCurve of ['P-521', 'secp256k1']) {
    assert.equal(isAcceptablePublicKey(generateKeyPairSync('ec', { namedCurve }).publicKey), false)
  }
  assert.equal(isAcceptablePublicKey(generateKeyPairSync('x25519').publicKey), false)
  assert.equal(isAcceptablePublicKey(generateKeyPairSync('ed448').publicKey), false)
  for (const bits of [1024, 2040, 4104, 8192]) {
    assert.equal(isAcceptablePublicKey(rsaOfBits(bits)), false, String(bits))
  }
})

test('[AGT-6] a new key is P-256, and its PEM is read back as the same key', async () => {
  const key = await generateEcP256Key()
  assert.equal(key.keyObject.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assert.ok(parsePrivateKeyPem(key.pem).publicKeySpki.equals(key.publicKeySpki))
  assert.match(key.pem, /^-----BEGIN PRIVATE KEY-----\n/)
  assert.throws(() => parsePrivateKeyPem('no key'))
})

/** What openssl calls each of them, in a private key and in the signature of a CSR. */
const OPENSSL_WORDS: Readonly<Record<KeyType, readonly [key: RegExp, signature: RegExp]>> = {
  'ec-p256': [/NIST CURVE: P-256/, /ecdsa-with-SHA256/],
  'ec-p384': [/NIST CURVE: P-384/, /ecdsa-with-SHA384/],
  ed25519: [/ED25519 Private-Key/, /ED25519/],
  'rsa-2048': [/\(2048 bit, 2 primes\)/, /sha256WithRSAEncryption/],
  'rsa-3072': [/\(3072 bit, 2 primes\)/, /sha256WithRSAEncryption/],
  'rsa-4096': [/\(4096 bit, 2 primes\)/, /sha256WithRSAEncryption/],
}

for (const [type, [keyWords, signatureWords]] of Object.entries(OPENSSL_WORDS)) {
  test(`[TGT-10] a key of type ${type} is one that we certify, and so is its CSR, by openssl too`, async () => {
    const key = await generateKey(type as KeyType)
    assert.ok(isAcceptablePublicKey(createPublicKey(key.keyObject)))
    assert.match(key.pem, /^-----BEGIN PRIVATE KEY-----\n/)
    assert.match(openssl(key.pem, 'pkey', '-noout', '-text'), keyWords)
    const csrPem = await createCsrPem('a.example', key)
    assert.match(openssl(csrPem, 'req', '-verify', '-noout', '-text'), signatureWords)
    const csr = parseCsrPem(csrPem)
    assert.equal(csr?.commonName, 'a.example')
    assert.ok(csr.publicKeySpki.equals(key.publicKeySpki))
  })
}

function openssl(input: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('openssl', args, { input, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}
