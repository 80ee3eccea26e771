import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import { formatCheckpoint, parseCheckpoint } from './checkpoint.ts'
import {
  formatVerifierKey,
  noteSigner,
  openNote,
  parseVerifierKey,
  signNote,
} from './signed-note.ts'

const TEXT = 'hub.example.org/log\n3\nr+b8bIcJx+XzHnP7Ef2qr2rP9XlFLrCMKpfQs6Fp2K4=\n'

describe('[CHN-15] a signed note', () => {
  const signer = noteSigner('hub.example.org/log', generateKeyPairSync('ed25519').privateKey)
  const other = noteSigner('witness', generateKeyPairSync('ed25519').privateKey)

  test('is opened with its key, and says who signed it', () => {
    const note = signNote(TEXT, signer)
    assert.match(
      note,
      /^hub\.example\.org\/log\n3\n[^\n]+\n\n— hub\.example\.org\/log [A-Za-z0-9+/]{91}=\n$/,
    )
    assert.deepEqual(openNote(note, [other, signer]), { text: TEXT, signers: [signer] })
  })

  test('may have signatures of others, known or not', () => {
    const [, line = ''] = signNote(TEXT, other).split('\n\n')
    const both = `${signNote(TEXT, signer)}${line}`
    assert.deepEqual(openNote(both, [signer])?.signers, [signer])
    assert.deepEqual(openNote(both, [signer, other])?.signers, [signer, other])
  })

  test('is not opened with another key, of another name, or when a character of it changed', () => {
    const note = signNote(TEXT, signer)
    assert.equal(openNote(note, [other]), undefined)
    assert.equal(openNote(note, [noteSigner('hub', signer.privateKey)]), undefined)
    fc.assert(
      fc.property(
        fc.nat({ max: note.length - 1 }),
        fc.integer({ min: 0, max: 127 }),
        (at, code) => {
          const character = String.fromCharCode(code)
          fc.pre(note[at] !== character)
          const changed = note.slice(0, at) + character + note.slice(at + 1)
          assert.notEqual(
            openNote(changed, [signer])?.text,
            changed.slice(0, changed.indexOf('\n\n') + 1),
          )
        },
      ),
      propertyRuns(),
    )
  })

  test('has a key that can be written down', () => {
    const text = formatVerifierKey(signer)
    assert.match(text, /^hub\.example\.org\/log\+[0-9a-f]{8}\+A[A-Za-z0-9+/]{43}$/)
    const parsed = parseVerifierKey(text) ?? assert.fail()
    assert.deepEqual(openNote(signNote(TEXT, signer), [parsed])?.signers, [parsed])
    for (const wrong of ['', 'hub', text.slice(0, -4), text.replace('hub', 'bub'), `${text}A`]) {
      assert.equal(parseVerifierKey(wrong), undefined)
    }
  })
})

describe('[CHN-15] a checkpoint', () => {
  test('is three lines, and is read as it was written', () => {
    const checkpoint = { origin: 'hub.example.org/log', size: 3, root: Buffer.alloc(32, 7) }
    const text = formatCheckpoint(checkpoint)
    assert.equal(text, 'hub.example.org/log\n3\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n')
    assert.deepEqual(parseCheckpoint(text), checkpoint)
    assert.deepEqual(parseCheckpoint(`${text}extension\n`), checkpoint)
  })

  for (const [what, text] of [
    ['no origin', '\n3\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n'],
    ['a size with a zero before it', 'log\n03\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n'],
    ['a size below nothing', 'log\n-3\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n'],
    [
      'a size that no number has',
      'log\n9999999999999999\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n',
    ],
    ['a short root', 'log\n3\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==\n'],
    ['a root in another spelling', 'log\n3\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc\n'],
    ['no line break at its end', 'log\n3\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc='],
  ] as const) {
    test(`with ${what} is none`, () => {
      assert.equal(parseCheckpoint(text), undefined)
    })
  }
})
