import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import { chainEntries } from './chain-entries.ts'
import { ChainVerifier } from './hash-chain.ts'

const NOON = new Date('2026-11-21T12:00:00Z')
const EARLIER = new Date('2026-11-21T11:00:00.123Z')

test('[CHN-1] [CHN-3] the first entry is number 1, chained to 64 zeros', () => {
  const [entry] = chainEntries(undefined, [{ payloadText: '{}', at: EARLIER, more: 'x' }])
  assert.deepEqual(entry, {
    payloadText: '{}',
    more: 'x',
    seq: 1,
    timestamp: '2026-11-21T11:00:00.123000Z',
    previousHash: '0'.repeat(64),
    // printf '%064d{}2026-11-21T11:00:00.123000Z' 0 | sha256sum
    hash: '9b5db22299980b08fcbd3eeb63903d649c6283808bcf52dab096c2f9b197ddaa',
  })
})

test('[CHN-5] a clock that is set back takes no entry to before the last one', () => {
  const end = { seq: 7, timestamp: '2026-11-21T12:00:00.000000Z', hash: 'f'.repeat(64) }
  const chained = chainEntries(end, [
    { payloadText: '1', at: EARLIER },
    { payloadText: '2', at: new Date(NOON.getTime() + 1) },
    { payloadText: '3', at: NOON },
  ])
  assert.deepEqual(
    chained.map(({ seq, timestamp }) => [seq, timestamp]),
    [
      [8, '2026-11-21T12:00:00.000000Z'],
      [9, '2026-11-21T12:00:00.001000Z'],
      [10, '2026-11-21T12:00:00.001000Z'],
    ],
  )
  assert.equal(chained[0]?.previousHash, end.hash)
})

test('[CHN-1] [CHN-6] whatever the clock says, what was appended one by one or at once verifies', () => {
  const entry = fc.record({ payloadText: fc.json(), at: fc.nat().map((ms) => new Date(ms)) })
  const appended = fc.array(fc.array(entry, { maxLength: 5 }), { maxLength: 6 })
  fc.assert(
    fc.property(appended, (sets) => {
      const verifier = new ChainVerifier()
      let end: ReturnType<typeof chainEntries>[number] | undefined
      for (const set of sets) {
        for (const chained of chainEntries(end, set)) {
          verifier.add(chained)
          end = chained
        }
      }
      assert.deepEqual([verifier.fault, verifier.count], [undefined, sets.flat().length])
    }),
    propertyRuns(),
  )
})
