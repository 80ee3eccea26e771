import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { parseCheckpoint } from './checkpoint.ts'
import { isSignedReceipt, parseReceipt, signReceipt } from './identity-receipt.ts'
import { noteSigner } from './signed-note.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const SIGNER = noteSigner('cartorio/vault/7', privateKey)
const SAID = {
  at: new Date('2030-01-02T03:04:05.678Z'),
  agentId: '11111111-1111-4111-8111-111111111111',
  hostname: 'web-1.example',
  role: 'web "1"\nline',
  enrolledWith: 'a'.repeat(64),
  sha256: 'b'.repeat(64),
}

describe('[BKP-14] the receipt of an identity', () => {
  const note = signReceipt(SAID, SIGNER)

  test('is a signed note of eight lines', () => {
    assert.equal(
      note.split('\n\n')[0],
      [
        'cartorio-identity/v1',
        'cartorio/vault/7',
        '2030-01-02T03:04:05.678Z',
        '11111111-1111-4111-8111-111111111111',
        'web-1.example',
        '"web \\"1\\"\\nline"',
        'a'.repeat(64),
        'b'.repeat(64),
      ].join('\n'),
    )
    const receipt = parseReceipt(note)
    assert.deepEqual(receipt, { origin: 'cartorio/vault/7', ...SAID })
    assert.ok(receipt && isSignedReceipt(note, receipt, publicKey))
  })

  test('is no checkpoint, and longest names leave room within what the wire takes', () => {
    assert.equal(parseCheckpoint(`${note.split('\n\n')[0]}\n`), undefined)
    const longest = { ...SAID, hostname: 'h'.repeat(64), role: '\\'.repeat(128) }
    const origin = `cartorio/${'v'.repeat(36)}/4000000000`
    assert.ok(signReceipt(longest, noteSigner(origin, privateKey)).length < 1000)
  })

  test('is nothing when another key signed it, or one character is another', () => {
    const receipt = parseReceipt(note) ?? assert.fail('it is one')
    const other = generateKeyPairSync('ed25519').publicKey
    assert.equal(isSignedReceipt(note, receipt, other), false)
    for (let at = 0; at < note.length; at += 1) {
      const changed = `${note.slice(0, at)}${note[at] === 'c' ? 'd' : 'c'}${note.slice(at + 1)}`
      const said = parseReceipt(changed)
      const isTaken = said !== undefined && isSignedReceipt(changed, said, publicKey)
      assert.equal(isTaken, false, `character ${at}`)
    }
  })

  test('is nothing in another form', () => {
    for (const text of ['', 'x', note.slice(1), `${note}\n`, note.repeat(5), '\n'.repeat(9)]) {
      const said = parseReceipt(text)
      assert.ok(said === undefined || !isSignedReceipt(text, said, publicKey), text.slice(0, 20))
    }
  })
})
