// What an export proves: whatever is done to one is seen, and nothing is seen in one to which nothing was done.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  type Content,
  logOf,
  makeContents,
  makeLog,
  SIGNER,
} from '../../test/support/made-export.ts'
import { propertyRuns } from '../../test/support/property.ts'
import type { Checkpoint } from './checkpoint.ts'
import { ExportVerifier, openExport } from './export-verifier.ts'
import type { Receipt } from './receipt.ts'
import { parseRecord } from './record.ts'
import { noteSigner } from './signed-note.ts'

const COUNT = 70
const LOG = makeLog(makeContents(COUNT))

/** Why it is refused, or undefined. */
function refusalOf(text: string, kept?: Checkpoint, key = LOG.key): string | undefined {
  const lines = text.split('\n')
  if (lines.pop() !== '') return 'the last line is not ended'
  const [head = '', ...records] = lines
  const opened = openExport(head, { key, signer: SIGNER, kept })
  if (!(opened instanceof ExportVerifier)) return opened.reason
  for (const record of records) {
    const fault = opened.add(record)
    if (fault !== undefined) return fault.reason
  }
  const { chainFault } = opened
  const fault = opened.finish()
  return chainFault === undefined ? fault?.reason : `${chainFault.seq}: ${chainFault.reason}`
}

/** What the log says of receipts, or why the export is refused. */
function heldAgainst(receipts: readonly Receipt[], text: string): readonly string[] {
  const lines = text.split('\n').slice(0, -1)
  const trusted = { key: LOG.key, signer: SIGNER, kept: undefined, receipts }
  const opened = openExport(lines.shift() ?? '', trusted)
  if (!(opened instanceof ExportVerifier)) return [opened.reason]
  for (const line of lines) assert.equal(opened.add(line), undefined)
  assert.equal(opened.finish(), undefined)
  return opened.findReceiptFaults().map(({ receipt, reason }) => `${receipt.entryId}: ${reason}`)
}

const RECEIPTS: readonly Receipt[] = LOG.records.map((record) => {
  const entry = parseRecord(record) ?? assert.fail()
  const { id, hash, eventType, deliveryId, requestId } = entry
  return { entryId: id, hash, eventType, deliveryId, requestId, at: '1970-01-01T00:00:00.500Z' }
})

const ranges = fc
  .tuple(fc.nat({ max: COUNT }), fc.nat({ max: COUNT }))
  .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const)

describe('[CHN-32] an export', () => {
  test('of any part of any log is good, and goes on from every checkpoint in that part', () => {
    fc.assert(
      fc.property(ranges, fc.nat({ max: COUNT }), ([after, until], size) => {
        const text = LOG.exportOf(after, until)
        assert.equal(refusalOf(text), undefined)
        const refusal = refusalOf(text, LOG.checkpointAt(size))
        if (size >= after && size <= until) assert.equal(refusal, undefined)
        else assert.match(refusal ?? '', /^the checkpoint that was kept is of/)
      }),
      propertyRuns(),
    )
    assert.equal(refusalOf(makeLog([]).exportOf()), undefined)
  })

  test('in which any byte is another one, or missing, is refused', () => {
    fc.assert(
      fc.property(
        ranges,
        fc.nat(),
        fc.integer({ min: 0, max: 127 }),
        ([after, until], at, code) => {
          const bytes = Buffer.from(LOG.exportOf(after, until))
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

  test('whose lines are in another order, missing or doubled is refused, and so is the log made again', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (first, second) => {
        const contents = makeContents(20)
        const honest = makeLog(contents)
        const [at, to] = [first % 20, second % 20]
        fc.pre(at !== to)
        const lists = [
          contents.toSpliced(at, 1),
          contents.toSpliced(at, 0, { ...(contents[at] as Content), id: 'added' }),
          contents.slice(0, at),
          contents.with(at, contents[to] as Content).with(to, contents[at] as Content),
          contents.with(at, { ...(contents[at] as Content), agentId: 'another' }),
        ]
        for (const list of lists) {
          const forged = makeLog(list)
          // All that the holder of the vault can make again is made again, the signature by another key too.
          assert.match(refusalOf(forged.exportOf(), honest.checkpointAt(20)) ?? '', /checkpoint/)
          const [head = ''] = honest.exportOf().split('\n')
          assert.ok(refusalOf([head, ...forged.exportOf().split('\n').slice(1)].join('\n')))
        }
        const [head = '', ...lines] = honest.exportOf().split('\n').slice(0, -1)
        for (const list of [
          lines.toSpliced(at, 1),
          lines.toSpliced(at, 0, lines[at] as string),
          lines.slice(0, at),
          lines.with(at, lines[to] as string).with(to, lines[at] as string),
        ]) {
          assert.ok(refusalOf(`${[head, ...list].join('\n')}\n`))
        }
      }),
      propertyRuns(30),
    )
  })

  test('says what is wrong with it', () => {
    const lines = LOG.exportOf().split('\n')
    const without = (at: number): string => lines.toSpliced(at, 1).join('\n')
    const other = makeLog(makeContents(COUNT), noteSigner('cartorio/a-vault', newKey()))
    const column = LOG.records.map((record, at) =>
      at === 4 ? record.replace('7:agent-4', '7:agent-9') : record,
    )
    const chain = LOG.records.map((record) => record.replace('"n":7,', '"n":8,'))
    const [head = ''] = lines
    const cases: readonly (readonly [string, string | undefined])[] = [
      ['its first line is not that of an export of the log', refusalOf('{}\n')],
      ['its first line is not that of an export of the log', refusalOf(without(0))],
      ['what should be entry 3 is no record', refusalOf(lines.with(3, '"x"').join('\n'))],
      ['4: expected entry 3', refusalOf(lines.toSpliced(3, 1, lines[4] ?? '').join('\n'))],
      ['it ends with entry 69 of 70: its end was cut off', refusalOf(without(COUNT))],
      ['there is more after its last entry', refusalOf(`${lines.join('\n')}"x"\n`)],
      [`it names another key: ${other.key}`, refusalOf(other.exportOf())],
      [
        'its checkpoint is not signed with this key',
        refusalOf(other.exportOf().replace(other.key, LOG.key)),
      ],
      [
        'its entries are not those that its checkpoint was signed for',
        refusalOf([head, ...logOf(column).exportOf().split('\n').slice(1)].join('\n')),
      ],
      [
        '8: the hash does not match the payload and timestamp',
        refusalOf([head, ...logOf(chain).exportOf().split('\n').slice(1)].join('\n')),
      ],
      [
        'the first 5 entries are not those that a checkpoint was signed for',
        refusalOf(logOf(column).exportOf(), LOG.checkpointAt(5)),
      ],
      [
        'the checkpoint that was kept is of 70 entries, and this log has 20',
        refusalOf(makeLog(makeContents(20)).exportOf(), LOG.checkpointAt(COUNT)),
      ],
      [
        'the checkpoint that was kept is of 9 entries, and the export begins after 10 and ends with 20',
        refusalOf(LOG.exportOf(10, 20), LOG.checkpointAt(9)),
      ],
      [
        'it says that it has more than was signed',
        refusalOf(lines.with(0, head.replace('"until":70', '"until":71')).join('\n')),
      ],
      [
        'the hashes before its entries are not as many as there are',
        refusalOf(lines.with(0, head.replace('"after":0', '"after":1')).join('\n')),
      ],
      [
        'the hashes after its entries are not as many as there are',
        refusalOf(LOG.exportOf(0, 69).replace(/"right":\[[^\]]*\]/, '"right":[]')),
      ],
    ]
    for (const [expected, found] of cases) assert.equal(found, expected)
  })

  test('of half a pair of surrogates is refused: its hash would be that of another text', () => {
    const log = makeLog([{ ...(makeContents(1)[0] as Content), payloadText: '"\ufffd"' }])
    assert.equal(refusalOf(log.exportOf()), undefined)
    const half = log.exportOf().replace('\ufffd', String.raw`\ud800`)
    assert.equal(refusalOf(half), 'what should be entry 1 is no record')
  })
})

describe('[CHN-35] receipts', () => {
  test('of what is in the log are borne out, in any order and twice', () => {
    assert.deepEqual(heldAgainst([...RECEIPTS.toReversed(), ...RECEIPTS], LOG.exportOf()), [])
    assert.deepEqual(heldAgainst([], LOG.exportOf()), [])
  })

  test('name each column that the log says otherwise', () => {
    const changed = (change: Partial<Receipt>): readonly string[] =>
      heldAgainst(
        [RECEIPTS[3] as Receipt, { ...(RECEIPTS[4] as Receipt), ...change }],
        LOG.exportOf(),
      )
    const says = (column: string): string[] => [`id-4: entry 5 of the log has another ${column}`]
    assert.deepEqual(changed({ hash: '0'.repeat(64) }), says('hash_atual'))
    assert.deepEqual(changed({ eventType: 'other' }), says('tipo_evento'))
    assert.deepEqual(changed({ deliveryId: 'other' }), says('entrega_id'))
    assert.deepEqual(changed({ requestId: null }), says('request_id'))
  })

  test('find what is gone from a log that was made again, and signed by its own key', () => {
    const contents = makeContents(COUNT)
    // The hash of each entry after the missing one is another one.
    const without = makeLog(contents.toSpliced(60, 1)).exportOf()
    assert.deepEqual(heldAgainst(RECEIPTS.slice(59, 62), without), [
      'id-61: entry 61 of the log has another hash_atual',
      'id-60: no entry of the log has this id',
    ])
    const cut = makeLog(contents.slice(0, 60)).exportOf()
    const late = RECEIPTS.map((receipt) => ({ ...receipt, at: '1970-01-01T00:01:00.000Z' }))
    assert.deepEqual(heldAgainst(late.slice(58, 61), cut), [
      'id-60: no entry of the log has this id; the last entry is of 1970-01-01T00:00:59.000000Z',
    ])
  })

  test('are not held against a part of a log, which says nothing of what came before', () => {
    const part = LOG.exportOf(10)
    assert.deepEqual(heldAgainst(RECEIPTS, part), [
      'receipts are of any entry, and the export begins after entry 10',
    ])
  })
})

function newKey() {
  return generateKeyPairSync('ed25519').privateKey
}
