import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { type ChainedEntry, ChainVerifier, formatTimestamp, hashEntry } from './hash-chain.ts'
import { propertyRuns } from '../../test/support/property.ts'

const ZEROS = '0'.repeat(64)

function chainOf(payloads: readonly string[]): ChainedEntry[] {
  let previousHash = ZEROS
  return payloads.map((payloadText, index) => {
    const timestamp = formatTimestamp(new Date(1_900_000_000_000 + index))
    const text = previousHash + payloadText + timestamp
    const hash = createHash('sha256').update(text, 'utf8').digest('hex')
    const entry = { seq: index + 1, payloadText, timestamp, previousHash, hash }
    previousHash = hash
    return entry
  })
}

function verify(entries: readonly ChainedEntry[]): ChainVerifier {
  const verifier = new ChainVerifier()
  for (const entry of entries) verifier.add(entry)
  return verifier
}

describe('the hash', () => {
  test('[CHN-2] is SHA-256 over previous hash, payload and timestamp', () => {
    // printf '%064d{"a":"é"}2030-01-01T00:00:00.000000Z' 0 | sha256sum
    assert.equal(
      hashEntry(ZEROS, '{"a":"é"}', '2030-01-01T00:00:00.000000Z'),
      'a3d4d675041e489dec2d6021a63818a7164c68c981cfadb5779794f067d303b1',
    )
  })

  test('[CHN-5] timestamps have a fixed width', () => {
    assert.equal(formatTimestamp(new Date(0)), '1970-01-01T00:00:00.000000Z')
    assert.equal(formatTimestamp(new Date(1_234)), '1970-01-01T00:00:01.234000Z')
  })
})

describe('verification', () => {
  const payloads = ['{}', '{"a":1}', '{"b":"é"}', '{}']

  test('[CHN-6] of a whole log finds no fault', () => {
    const entries = chainOf(payloads)
    const { fault, count, head } = verify(entries)
    assert.deepEqual([fault, count, head], [undefined, 4, entries.at(-1)?.hash])
    assert.deepEqual([verify([]).fault, verify([]).head], [undefined, ZEROS])
  })

  const changes: Readonly<Record<string, (entries: ChainedEntry[]) => ChainedEntry[]>> = {
    'a changed payload': (entries) => changed(entries, { payloadText: '{"a":2}' }),
    'a changed timestamp': (entries) =>
      changed(entries, { timestamp: '2031-01-01T00:00:00.000000Z' }),
    'a changed hash': (entries) => changed(entries, { hash: ZEROS }),
    'a changed previous hash': (entries) => changed(entries, { previousHash: ZEROS }),
    'a missing entry': (entries) => entries.toSpliced(1, 1),
    'two entries in the wrong order': ([a, b, ...rest]) => [a!, rest[0]!, b!, ...rest.slice(1)],
    'an entry that is there twice': (entries) => entries.toSpliced(1, 0, entries[0]!),
    'another number': (entries) => changed(entries, { seq: 7 }),
  }

  function changed(entries: ChainedEntry[], change: Partial<ChainedEntry>): ChainedEntry[] {
    return entries.with(1, { ...entries[1]!, ...change })
  }

  for (const [title, change] of Object.entries(changes)) {
    test(`[CHN-6] names ${title}, and trusts nothing after it`, () => {
      const entries = chainOf(payloads)
      const verifier = verify(change(entries))
      assert.ok(verifier.fault?.reason)
      assert.equal(verifier.fault.seq, change(entries)[1]?.seq)
      assert.equal(verifier.head, entries[0]?.hash)
    })
  }

  test('[CHN-5] [CHN-6] a timestamp before that of the entry before is a fault, rehashed or not', () => {
    const entries = chainOf(['{}', '{}'])
    const timestamp = '2000-01-01T00:00:00.000000Z'
    const { previousHash, payloadText } = entries[1]!
    const hash = hashEntry(previousHash, payloadText, timestamp)
    const verifier = verify([entries[0]!, { ...entries[1]!, timestamp, hash }])
    assert.equal(verifier.fault?.seq, 2)
  })

  test('[CHN-6] any one changed character of any payload is found at its entry', () => {
    const nonEmpty = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(nonEmpty, fc.nat(), (texts, pick) => {
        const entries = chainOf(texts)
        const index = pick % entries.length
        const entry = entries[index]!
        const tampered = entries.with(index, { ...entry, payloadText: `${entry.payloadText}x` })
        assert.equal(verify(entries).fault, undefined)
        assert.equal(verify(tampered).fault?.seq, index + 1)
      }),
      propertyRuns(100),
    )
  })
})
