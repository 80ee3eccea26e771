import assert from 'node:assert/strict'
import { createDecipheriv } from 'node:crypto'
import { describe, test } from 'node:test'
import { createReplySeal } from './sealed-replies.ts'

const SECRET = { credential: 'svca_one', key: 'a key of sixteen' }
const REPLY = { token: 'svct_secret', umlaut: 'ä' }

describe('[API-17] a reply that is kept', () => {
  test('is opened by the same key and the same admin token, by a hub that was started again too', () => {
    const sealed = createReplySeal(SECRET).seal(REPLY)
    assert.deepEqual(createReplySeal({ ...SECRET }).open(sealed), REPLY)
    assert.deepEqual(createReplySeal({ ...SECRET }).open(new Uint8Array(sealed)), REPLY)
  })

  test('is opened by nobody else, however their two texts are cut', () => {
    const seal = createReplySeal(SECRET)
    const sealed = seal.seal(REPLY)
    for (const other of [
      { ...SECRET, key: 'another key' },
      { ...SECRET, credential: 'svca_two' },
      { ...SECRET, credential: '' },
      { credential: SECRET.key, key: SECRET.credential },
      { credential: 'svca_on', key: 'ea key of sixteen' },
    ]) {
      const others = createReplySeal(other)
      assert.notEqual(others.id, seal.id)
      assert.throws(() => others.open(sealed))
    }
  })

  test('shows nothing of itself, of the key or of the token, and looks different each time', () => {
    const seal = createReplySeal(SECRET)
    const [one, other] = [Buffer.from(seal.seal(REPLY)), Buffer.from(seal.seal(REPLY))]
    assert.notDeepEqual(one, other)
    assert.match(seal.id, /^[0-9a-f]{64}$/)
    for (const text of ['svct_secret', SECRET.key, SECRET.credential]) {
      assert.equal(one.includes(text), false)
    }
  })

  test('is not opened by what it is kept under', () => {
    const seal = createReplySeal(SECRET)
    const sealed = Buffer.from(seal.seal(REPLY))
    const options = { authTagLength: 16 }
    const id = Buffer.from(seal.id, 'hex')
    const decipher = createDecipheriv('chacha20-poly1305', id, sealed.subarray(0, 12), options)
    decipher.setAuthTag(sealed.subarray(-16))
    decipher.update(sealed.subarray(12, -16))
    assert.throws(() => decipher.final())
  })

  test('is refused when any of its bytes was changed', () => {
    const seal = createReplySeal(SECRET)
    const sealed = Buffer.from(seal.seal(REPLY))
    for (const at of [0, 12, sealed.length - 17, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.throws(() => seal.open(changed), `${at}`)
    }
    assert.throws(() => seal.open(sealed.subarray(0, 20)))
  })
})
