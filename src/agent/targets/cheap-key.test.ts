import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { generateKey, type KeyType, parsePrivateKeyPem } from '../../pki/keys.ts'
import { findCheapKeyPem } from './cheap-key.ts'

for (const type of ['ec-p256', 'ec-p384', 'ed25519', 'rsa-2048', 'rsa-4096'] as KeyType[]) {
  test(`[TGT-30] a key of ${type} stays what it is`, async () => {
    const { pem } = await generateKey(type)
    assert.equal(findCheapKeyPem(pem), pem)
    assert.equal(parsePrivateKeyPem(findCheapKeyPem(`\n${pem}\n`) ?? '').pem, pem)
  })
}

test('[TGT-30] any other is none', () => {
  const ed448 = execFileSync('openssl', ['genpkey', '-algorithm', 'ED448'], { encoding: 'utf8' })
  const x25519 = generateKeyPairSync('x25519').privateKey
  const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey
  const pkcs8 = [x25519, p521].map((key) => key.export({ type: 'pkcs8', format: 'pem' }))
  const sec1 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'sec1',
    format: 'pem',
  })
  for (const pem of [...pkcs8, ed448, sec1, '', 'x', `${String(sec1)}${String(pkcs8[1])}`]) {
    assert.equal(findCheapKeyPem(String(pem)), undefined)
  }
})
