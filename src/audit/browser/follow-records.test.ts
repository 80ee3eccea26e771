// On Node's Web Crypto, against logs whose hashes Node made.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { makeContents, makeLog } from '../../../test/support/made-export.ts'
import { propertyRuns } from '../../../test/support/property.ts'
import { followRecords, LOG_BEGIN, type LogPlace, type RecordFollower } from './follow-records.ts'

const COUNT = 150
const LOG = makeLog(makeContents(COUNT))

function follow(place: LogPlace = LOG_BEGIN): RecordFollower {
  return followRecords(place) ?? assert.fail('a place that nobody can go on from')
}

function rootAt(size: number): string {
  return LOG.checkpointAt(size).root.toString('base64')
}

describe('[ADT-2] records that are followed', () => {
  test('are good from any place on, with the roots that were signed', async () => {
    const ranges = fc.tuple(fc.nat({ max: COUNT }), fc.nat({ max: COUNT }))
    await fc.assert(
      fc.asyncProperty(ranges, async ([one, other]) => {
        const [place, size] = [Math.min(one, other), Math.max(one, other)]
        const first = follow()
        assert.equal(await first.add(LOG.records.slice(0, place), () => undefined), undefined)
        // As a browser keeps it.
        const kept = JSON.parse(JSON.stringify(first.place)) as LogPlace
        const second = follow(kept)
        const times: string[] = []
        assert.equal(await second.expectRoot(size, rootAt(size)), undefined)
        assert.equal(await second.add(LOG.records.slice(place), (at) => times.push(at)), undefined)
        assert.deepEqual([second.count, second.lastRootSize], [COUNT, size])
        assert.equal(times.length, COUNT - place)
      }),
      propertyRuns(20),
    )
  })

  test('name the entry of which one byte is another', async () => {
    const changed = LOG.records.with(99, (LOG.records[99] ?? '').replace('"n":99', '"n":98'))
    const follower = follow()
    assert.deepEqual(await follower.add(changed, () => undefined), {
      kind: 'entry',
      seq: 100,
      reason: 'the hash does not match the payload and timestamp',
    })
    assert.equal(follower.count, 99)
    const gone = await follow().add(LOG.records.toSpliced(7, 1), () => undefined)
    assert.deepEqual(gone, { kind: 'entry', seq: 8, reason: 'it has another number' })
    assert.deepEqual(await follow().add(['x'], () => undefined), {
      kind: 'entry',
      seq: 1,
      reason: 'it is no record',
    })
  })

  test('of another log are found by a hash or a root that was kept', async () => {
    const other = makeLog(
      makeContents(COUNT).map((content) => ({ ...content, id: `x${content.id}` })),
    )
    const byRoot = follow()
    await byRoot.expectRoot(90, rootAt(90))
    assert.deepEqual(await byRoot.add(other.records, () => undefined), { kind: 'tree', size: 90 })
    const byHash = follow()
    byHash.expectHash(64, 'f'.repeat(64))
    assert.deepEqual(await byHash.add(LOG.records, () => undefined), { kind: 'kept', seq: 64 })
    const place = { ...byHash.place, hash: 'f'.repeat(64) }
    assert.deepEqual(await follow(place).add(LOG.records.slice(place.seq), () => undefined), {
      kind: 'entry',
      seq: place.seq + 1,
      reason: 'the previous hash is not the hash of the entry before',
    })
  })

  test('stop when they are told to', async () => {
    const follower = follow()
    await follower.add(
      LOG.records,
      () => undefined,
      () => follower.count >= 64,
    )
    assert.equal(follower.count, 64)
  })
})
