import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeContents, makeLog, SIGNER } from '../../test/support/made-export.ts'
import { testWitness } from '../../test/support/test-witness.ts'
import { openCosigned } from './cosigned-checkpoint.ts'
import { formatVerifierKey, type NoteVerifier, parseWitnessKey } from './signed-note.ts'

const LOG = makeLog(makeContents(20))
const NOTE = LOG.noteAt(20)
const [ONE, TWO] = [testWitness(), testWitness('witness.example/w2', 'ml-dsa-44')]

function keyOf({ key }: { key: string }): NoteVerifier {
  return parseWitnessKey(key) ?? assert.fail(key)
}

function reasonOf(note: string, ...witnesses: { key: string }[]): string | undefined {
  const opened = openCosigned(note, SIGNER, witnesses.map(keyOf))
  return 'reason' in opened ? opened.reason : undefined
}

describe('[CHN-39] a checkpoint that witnesses have signed', () => {
  test('is kept with the signatures of the log and of the witnesses that were named', () => {
    const cosigned = TWO.cosign(ONE.cosign(NOTE, 1_790_000_123))
    const opened = openCosigned(cosigned, SIGNER, [keyOf(ONE)])
    assert.ok('note' in opened)
    assert.equal(opened.note, ONE.cosign(NOTE, 1_790_000_123))
    assert.deepEqual(opened.witnesses, [
      { name: 'witness.example/w1', at: new Date('2026-09-21T14:15:23Z') },
    ])
    assert.equal(opened.checkpoint.size, 20)
    const both = openCosigned(ONE.cosign(TWO.cosign(NOTE)), SIGNER, [keyOf(ONE), keyOf(TWO)])
    assert.ok('note' in both)
    assert.deepEqual(
      both.witnesses.map(({ name }) => name),
      ['witness.example/w1', 'witness.example/w2'],
    )
  })

  test('is refused when anything is missing or wrong', () => {
    const cosigned = ONE.cosign(NOTE)
    const [origin = ''] = NOTE.split('\n')
    const unsigned = 'witness witness.example/w1 has not signed it'
    assert.equal(reasonOf('x', ONE), 'it is no signed checkpoint')
    assert.equal(reasonOf(NOTE, ONE), unsigned)
    assert.equal(reasonOf(cosigned, TWO), 'witness witness.example/w2 has not signed it')
    assert.equal(reasonOf(cosigned, testWitness()), unsigned)
    assert.equal(reasonOf(ONE.cosign(NOTE, 253_402_300_800), ONE), unsigned)
    assert.equal(reasonOf(ONE.cosign(NOTE, 0), ONE), unsigned)
    const foreign = makeLog(makeContents(20), { ...SIGNER, name: 'other' }).noteAt(20)
    assert.equal(reasonOf(ONE.cosign(foreign), ONE), `it is not signed with the key of ${origin}`)
    const lines = cosigned.split('\n')
    for (const [witness, name, places] of [
      [ONE, 'witness.example/w1', [4, 11, 12, 75]],
      [TWO, 'witness.example/w2', [4, 11, 12, 2431]],
    ] as const) {
      const signed = witness.cosign(NOTE).split('\n')
      const bytes = Buffer.from(signed[5]?.split(' ')[2] ?? '', 'base64')
      assert.equal(bytes.length - 1, places[3])
      for (const at of places) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 1
        const line = `— ${name} ${changed.toString('base64')}`
        const reason = reasonOf(signed.with(5, line).join('\n'), witness)
        assert.equal(reason, `witness ${name} has not signed it`, String(at))
      }
    }
    assert.equal(
      reasonOf(lines.with(1, '21').join('\n'), ONE),
      `it is not signed with the key of ${origin}`,
    )
  })

  test('is signed with a key of another kind than the log is', () => {
    assert.equal(parseWitnessKey(LOG.key), undefined)
    assert.equal(parseWitnessKey(`${ONE.key}x`), undefined)
    assert.notEqual(formatVerifierKey(keyOf(ONE)), ONE.key)
    assert.equal(parseWitnessKey(testWitness('w'.repeat(256), 'ml-dsa-44').key), undefined)
    assert.ok(parseWitnessKey(testWitness('w'.repeat(255), 'ml-dsa-44').key))
  })
})
