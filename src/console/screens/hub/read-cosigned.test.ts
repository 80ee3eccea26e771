import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeContents, makeLog } from '../../../../test/support/made-export.ts'
import { testWitness } from '../../../../test/support/test-witness.ts'
import { readCosigned } from './read-cosigned.ts'

const NOTE = makeLog(makeContents(20)).noteAt(20)
const [ONE, TWO] = [testWitness(), testWitness('witness.example/w2', 'ml-dsa-44')]

test('of each witness the name and the time are read, and the log itself is none', () => {
  const note = TWO.cosign(ONE.cosign(NOTE, 1_790_000_123), 1_790_000_200)
  assert.deepEqual(readCosigned(note), {
    entries: 20,
    witnesses: [
      { name: 'witness.example/w1', at: '2026-09-21T14:15:23.000Z' },
      { name: 'witness.example/w2', at: '2026-09-21T14:16:40.000Z' },
    ],
  })
})

test('a signature without a time has none, and what is no note is nothing', () => {
  const short = `${NOTE}— witness.example/w3 ${Buffer.alloc(8, 1).toString('base64')}\n`
  assert.deepEqual(readCosigned(short)?.witnesses, [{ name: 'witness.example/w3', at: undefined }])
  const late = `${NOTE}— w4 ${Buffer.alloc(80, 255).toString('base64')}\n`
  assert.deepEqual(readCosigned(late)?.witnesses, [{ name: 'w4', at: undefined }])
  for (const other of ['', 'text', 'origin\nmany\nroot\n\n— a b\n']) {
    assert.equal(readCosigned(other), undefined)
  }
})
