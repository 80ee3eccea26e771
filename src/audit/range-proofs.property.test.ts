import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { makeContents, makeLog } from '../../test/support/made-export.ts'
import { propertyRuns } from '../../test/support/property.ts'
import { verifyConsistency } from './merkle-proofs.ts'
import { consistencyOf } from './range-proofs.ts'

const LOGS = Array.from({ length: 40 }, (_, size) => makeLog(makeContents(size)))

test('[CHN-14] [API-80] what lies before an empty range, and after it, proves that the log has grown', () => {
  const pairs = fc
    .nat({ max: LOGS.length - 1 })
    .chain((newer) => fc.tuple(fc.nat({ max: newer }), fc.constant(newer)))
  fc.assert(
    fc.property(pairs, ([older, newer]) => {
      const log = LOGS[newer] ?? assert.fail()
      const { left, right } = log.prove({ after: older, before: older + 1 })
      const [before = [], behind = []] = [left, right].map((hashes) =>
        hashes.map((hash) => Buffer.from(hash, 'base64')),
      )
      const proof = consistencyOf(older, newer, { left: before, right: behind })
      assert.ok(verifyConsistency(log.checkpointAt(older), log.checkpointAt(newer), proof))
    }),
    propertyRuns(),
  )
})
