import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chainEntries } from './chain-entries.ts'
import { formatChainLine, parseChainLine } from './chain-line.ts'
import { ChainVerifier } from './hash-chain.ts'

const [entry] = chainEntries(undefined, [
  { payloadText: '{"a": "é 1\u{1f600}"}', at: new Date('2026-11-21T11:00:00.123Z') },
])

describe('[API-30] an entry of the chain as a line', () => {
  test('has number, hash before, time, hash and payload', () => {
    const line =
      '1 0000000000000000000000000000000000000000000000000000000000000000 2026-11-21T11:00:00.123000Z ' +
      'b3a1 {"a": "é 1\u{1f600}"}'
    assert.ok(entry)
    assert.equal(formatChainLine({ ...entry, hash: 'b3a1' }), line)
    assert.deepEqual(parseChainLine(formatChainLine(entry)), entry)
  })

  for (const [what, change] of [
    ['a longer hash before', { previousHash: `${'0'.repeat(64)}{` }],
    ['a shorter time', { timestamp: '2026-11-21T11:00:00.12300Z' }],
    ['a shorter hash', { hash: '00' }],
    ['another payload', { payloadText: '{}' }],
  ] as const) {
    test(`${what} is a fault`, () => {
      assert.ok(entry)
      const verifier = new ChainVerifier()
      verifier.add(parseChainLine(formatChainLine({ ...entry, ...change })))
      assert.equal(verifier.fault?.seq, 1)
    })
  }

  for (const line of ['', ' ', 'x', '1', '1 2 3 4 5']) {
    test(`${JSON.stringify(line)} is a fault`, () => {
      const verifier = new ChainVerifier()
      verifier.add(parseChainLine(line))
      assert.notEqual(verifier.fault, undefined)
    })
  }
})
