// Records and images are read with nothing but the statements of the protocol and the primitives that they name.

import assert from 'node:assert/strict'
import { createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import { ImageSeal } from './image-seal.ts'
import { positionAfter, RecordSeal } from './record-seal.ts'

const VAULT_ID = '0f5f3a7e-3f1d-4c5e-9a53-6d5b8a3f0c11'

const open = (key: ArrayBuffer, nonce: Buffer, data: Buffer, sealed: Buffer): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), nonce, { authTagLength: 16 })
  decipher.setAAD(data)
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
}

test('[JRN-3] a record is sealed byte by byte as the protocol says, and chained', () => {
  const dataKey = randomBytes(32)
  const before = { number: 41, hash: randomBytes(32) }
  const seal = new RecordSeal(new Secret(dataKey), VAULT_ID)
  const record = seal.seal(before, Buffer.from('content'))
  const { number, sealed } = record
  assert.equal(number, 42)
  const key = hkdfSync('sha256', dataKey, sealed.subarray(0, 16), 'cartorio journal record', 32)
  const data = Buffer.concat([Buffer.from(`${VAULT_ID}\n42\n`), before.hash])
  assert.equal(open(key, Buffer.alloc(12), data, sealed.subarray(16)).toString(), 'content')
  const after = positionAfter(before, record)
  const chained = createHash('sha256').update(before.hash).update(sealed).digest()
  assert.deepEqual(after, { number: 42, hash: chained })
})

test('[JRN-3] a record opens only after what it was appended to', () => {
  const dataKey = new Secret(randomBytes(32))
  const seal = new RecordSeal(dataKey, VAULT_ID)
  const before = { number: 1, hash: randomBytes(32) }
  const record = seal.seal(before, Buffer.from('content'))
  assert.equal(seal.open(before, record).toString(), 'content')
  const { sealed } = record
  const bent = Buffer.from(sealed)
  bent[20] = (bent[20] ?? 0) ^ 1
  const refused = { code: 'store_diverged' }
  for (const work of [
    () => seal.open({ ...before, hash: randomBytes(32) }, record),
    () => seal.open({ ...before, number: 2 }, { number: 3, sealed }),
    () => seal.open(before, { number: 3, sealed }),
    () => seal.open(before, { number: 2, sealed: bent }),
    () => seal.open(before, { number: 2, sealed: sealed.subarray(0, 31) }),
    () => seal.open(before, { number: 2, sealed: Buffer.alloc(0) }),
    () => new RecordSeal(dataKey, 'another').open(before, record),
    () => new RecordSeal(new Secret(randomBytes(32)), VAULT_ID).open(before, record),
  ]) {
    assert.throws(work, refused)
  }
})

test('[JRN-7] an image is sealed byte by byte as the protocol says', () => {
  const dataKey = randomBytes(32)
  const position = { number: 7, hash: randomBytes(32) }
  const bytes = 1024 * 1024 + 5
  const salt = 'ab'.repeat(32)
  const head = { position, kind: 'sqlite-chacha20', version: 35, bytes, salt }
  const seal = new ImageSeal(new Secret(dataKey), VAULT_ID)
  const is = `${VAULT_ID}\n7\n${position.hash.toString('hex')}\nsqlite-chacha20\n35\n${bytes}`
  const data = createHash('sha256').update(is).digest()
  const key = hkdfSync('sha256', dataKey, Buffer.from(salt, 'hex'), 'cartorio journal image', 32)
  const contents = [randomBytes(1024 * 1024), Buffer.from('small')]
  for (const [index, content] of contents.entries()) {
    const nonce = Buffer.from([...Array.from({ length: 10 }, () => 0), index, index === 1 ? 1 : 0])
    const sealed = seal.seal(head, index, content)
    assert.equal(sealed.length, content.length + 16)
    assert.ok(open(key, nonce, data, sealed).equals(content))
  }
})
