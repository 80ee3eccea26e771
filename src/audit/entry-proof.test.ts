import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { logOf, makeContents, makeLog, SIGNER } from '../../test/support/made-export.ts'
import { propertyRuns } from '../../test/support/property.ts'
import { formatEntryProof, openEntryProof } from './entry-proof.ts'
import { inclusionOf } from './range-proofs.ts'

const COUNT = 70
const LOG = makeLog(makeContents(COUNT))

function proofOf(log: typeof LOG, seq: number): string {
  const { left, right, entries, checkpoint } = log.prove({ after: seq - 1, before: seq + 1 })
  const [before, behind] = [left, right].map((hashes) =>
    hashes.map((hash) => Buffer.from(hash, 'base64')),
  )
  const hashes = inclusionOf(seq, entries, { left: before ?? [], right: behind ?? [] })
  const record = log.records[seq - 1] ?? assert.fail()
  return formatEntryProof({ record, hashes, checkpoint: checkpoint ?? '' }, seq)
}

function refusalOf(text: string): string | undefined {
  const opened = openEntryProof(text, SIGNER)
  return 'reason' in opened ? opened.reason : undefined
}

describe('[CHN-36] the proof of an entry', () => {
  test('is good for each entry of logs of any length', () => {
    for (const count of [1, 2, 3, 7, 8, 33]) {
      const log = makeLog(makeContents(count))
      for (let seq = 1; seq <= count; seq += 1) {
        const opened = openEntryProof(proofOf(log, seq), SIGNER)
        assert.ok('entry' in opened)
        assert.deepEqual([opened.entry.seq, opened.checkpoint.size], [seq, count])
      }
    }
  })

  test('has the form of c2sp.org/tlog-proof', () => {
    const lines = proofOf(LOG, 3).split('\n')
    assert.deepEqual(
      [lines[0], lines[1]?.slice(0, 6), lines[2], lines.indexOf('')],
      ['c2sp.org/tlog-proof@v1', 'extra ', 'index 2', 10],
    )
    const record = Buffer.from(lines[1]?.slice(6) ?? '', 'base64').toString()
    assert.equal(record, LOG.records[2])
    assert.equal(lines.slice(11).join('\n'), LOG.noteAt(COUNT))
  })

  test('in which any byte is another one, or missing, is refused', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: COUNT }),
        fc.nat(),
        fc.integer({ min: 0, max: 127 }),
        (seq, at, code) => {
          const bytes = Buffer.from(proofOf(LOG, seq))
          const place = at % bytes.length
          const without = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)])
          assert.ok(refusalOf(without.toString()))
          fc.pre(bytes[place] !== code)
          bytes[place] = code
          assert.ok(refusalOf(bytes.toString()))
        },
      ),
      propertyRuns(),
    )
  })

  test('says what is wrong with it', () => {
    const other = (record: string): string => record.replace('7:agent-4', '7:agent-9')
    const column = logOf(LOG.records.map((record, at) => (at === 4 ? other(record) : record)))
    const chain = logOf(LOG.records.map((record) => record.replace('"n":7,', '"n":8,')))
    const [, extra] = proofOf(column, 5).split('\n')
    const cases: readonly (readonly [string | undefined, string | undefined])[] = [
      [undefined, refusalOf(proofOf(column, 5))],
      ['it is no proof of an entry of the log', refusalOf('')],
      [
        'it is no proof of an entry of the log',
        refusalOf(proofOf(LOG, 5).replace('index 4', 'index 5')),
      ],
      [
        'its checkpoint is not signed with this key',
        refusalOf(proofOf(LOG, 5).replace('\n70\n', '\n71\n')),
      ],
      [
        'its entry is not in the log that its checkpoint was signed for',
        refusalOf(
          proofOf(LOG, 5)
            .split('\n')
            .with(1, extra ?? '')
            .join('\n'),
        ),
      ],
      [
        'the hash of its entry does not match the payload and timestamp',
        refusalOf(proofOf(chain, 8)),
      ],
    ]
    for (const [expected, found] of cases) assert.equal(found, expected)
  })
})
