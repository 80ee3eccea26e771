import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { openEpoch, signEpoch } from './epoch-statement.ts'
import { noteSigner, signNote } from './signed-note.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const signer = noteSigner('cartorio/v', privateKey)
const STATEMENT = {
  origin: 'cartorio/v/2',
  previous: 'cartorio/v',
  last: { size: 20, root: Buffer.alloc(32, 1) },
  base: { size: 7, root: Buffer.alloc(32, 2) },
  place: { number: 1, of: 2 },
}

describe('[CHN-21] the statement of an epoch', () => {
  test('has a line for each thing that it says', () => {
    const [text] = signEpoch(STATEMENT, signer).split('\n\n')
    assert.equal(
      text,
      [
        'cartorio-epoch/v1',
        'cartorio/v/2',
        'cartorio/v',
        '20 AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=',
        '7 AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=',
        '1 2',
      ].join('\n'),
    )
  })

  test('is read back with the key of the log that ends, and with no other', () => {
    const note = signEpoch(STATEMENT, signer)
    assert.deepEqual(openEpoch(note, signer), STATEMENT)
    assert.equal(openEpoch(note, noteSigner('cartorio/v/2', privateKey)), undefined)
    const strange = noteSigner('cartorio/v', generateKeyPairSync('ed25519').privateKey)
    assert.equal(openEpoch(note, strange), undefined)
    assert.equal(openEpoch(note.replace('\n20 ', '\n21 '), signer), undefined)
  })

  test('is nothing else that the same key has signed', () => {
    for (const text of [
      'cartorio/v\n20\nAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n',
      'cartorio-epoch/v1\ncartorio/v/2\ncartorio/v\n20 x\n7 y\n1 1\n',
      `cartorio-epoch/v1\ncartorio/v/2\ncartorio/v\n1 ${'A'.repeat(43)}=\n1 ${'A'.repeat(43)}=\n`,
      `cartorio-epoch/v1\ncartorio/v/2\ncartorio/v\n1 ${'A'.repeat(43)}=\n1 ${'A'.repeat(43)}=\n0 1\n`,
      'cartorio-epoch/v1\n',
      '\n',
    ]) {
      assert.equal(openEpoch(signNote(text, signer), signer), undefined)
    }
  })
})
