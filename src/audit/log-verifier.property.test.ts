// Anything that is done to a log that somebody kept a checkpoint of is seen, also when all its hashes were made again; nothing is ever
// seen in one to which nothing was done.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { chainEntries } from './chain-entries.ts'
import { LogVerifier } from './log-verifier.ts'
import { EMPTY_FRONTIER, growTree, rootOf } from './merkle-tree.ts'
import { formatRecord, hashRecord, type RecordedEntry } from './record.ts'

type Content = Omit<RecordedEntry, 'seq' | 'timestamp' | 'previousHash' | 'hash'>

const text = anyText(6).map((any) => Buffer.from(any).toString())
const contents = fc.array(
  fc.record({
    id: text,
    agentId: fc.option(text),
    eventType: text,
    deliveryId: fc.option(text),
    requestId: fc.option(text),
    payloadText: text,
  }),
  { minLength: 1, maxLength: 40 },
)

function logOf(entries: readonly Content[]): RecordedEntry[] {
  return chainEntries(
    undefined,
    entries.map((entry, index) => ({ ...entry, at: new Date(index * 1000) })),
  )
}

function rootAt(log: readonly RecordedEntry[], size: number): { size: number; root: Buffer } {
  const leaves = log.slice(0, size).map((entry) => hashRecord(formatRecord(entry)))
  return { size, root: rootOf(growTree(EMPTY_FRONTIER, leaves).frontier) }
}

function isGood(log: readonly RecordedEntry[], kept: { size: number; root: Buffer }): boolean {
  const verifier = new LogVerifier([kept])
  for (const entry of log) verifier.add(entry)
  return verifier.chainFault === undefined && verifier.findTreeFault() === undefined
}

describe('[CHN-16] given one earlier checkpoint', () => {
  test('no honest log is flagged', () => {
    fc.assert(
      fc.property(contents, fc.nat(), (content, number) => {
        const log = logOf(content)
        assert.ok(isGood(log, rootAt(log, number % (log.length + 1))))
      }),
      { ...propertyRuns(), numRuns: 1000 },
    )
  })

  test('a change of any column of any row is seen, with its hashes made again and without', () => {
    fc.assert(
      fc.property(contents, (content) => {
        const log = logOf(content)
        const kept = rootAt(log, log.length)
        for (const [at, entry] of log.entries()) {
          for (const column of Object.keys(entry) as (keyof RecordedEntry)[]) {
            const value = entry[column]
            const other = typeof value === 'number' ? value + 1 : `${value ?? ''}x`
            assert.ok(!isGood(log.with(at, { ...entry, [column]: other }), kept), column)
            if (!(column in content[0]!)) continue
            const rewritten = logOf(content.with(at, { ...content[at]!, [column]: other }))
            assert.ok(!isGood(rewritten, kept), `${column}, made again`)
          }
        }
      }),
      propertyRuns(),
    )
  })

  test('rows that were removed, added, exchanged or cut off are seen, with hashes made again', () => {
    fc.assert(
      fc.property(contents, fc.nat(), fc.nat(), (content, first, second) => {
        const log = logOf(content)
        const kept = rootAt(log, log.length)
        const [at, to] = [first % content.length, second % content.length]
        const added = { ...content[at]!, id: `${content[at]?.id}x` }
        const lists = [
          content.toSpliced(at, 1),
          content.toSpliced(at, 0, added),
          content.slice(0, at),
          content.with(at, content[to]!).with(to, content[at]!),
        ]
        for (const [index, list] of lists.entries()) {
          const isSame = index === 3 && formatRecordsOf(list) === formatRecordsOf(content)
          assert.equal(isGood(logOf(list), kept), isSame, `way ${index}`)
        }
      }),
      propertyRuns(),
    )
  })
})

function formatRecordsOf(list: readonly Content[]): string {
  return logOf(list).map(formatRecord).join('')
}
