import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import {
  type ChainedEntry,
  ChainVerifier,
  formatTimestamp,
  GENESIS_HASH,
  hashEntry,
} from './hash-chain.ts'

const payloads = fc.array(
  fc.oneof(
    fc.json(),
    anyText().map((text) => JSON.stringify(text)),
  ),
  {
    minLength: 1,
    maxLength: 12,
  },
)
const gaps = fc.array(fc.nat({ max: 5000 }), { minLength: 12, maxLength: 12 })
const log = fc.tuple(payloads, gaps).map(([texts, waits]) => {
  let previousHash = GENESIS_HASH
  let atMs = 1_900_000_000_000
  return texts.map((payloadText, index): ChainedEntry => {
    atMs += waits[index] ?? 0
    const timestamp = formatTimestamp(new Date(atMs))
    const hash = hashEntry(previousHash, payloadText, timestamp)
    const entry = { seq: index + 1, payloadText, timestamp, previousHash, hash }
    previousHash = hash
    return entry
  })
})

function verify(entries: readonly ChainedEntry[]): ChainVerifier {
  const verifier = new ChainVerifier()
  for (const entry of entries) verifier.add(entry)
  return verifier
}

test('[CHN-2] [CHN-6] every honest log verifies, equal timestamps too', () => {
  fc.assert(
    fc.property(log, (entries) => {
      const { fault, count, head } = verify(entries)
      assert.deepEqual([fault, count, head], [undefined, entries.length, entries.at(-1)?.hash])
    }),
    propertyRuns(),
  )
})

/** One field of one entry, changed by a character at any place. */
const change = fc.record({
  at: fc.nat(),
  field: fc.constantFrom('payloadText', 'timestamp', 'previousHash', 'hash'),
  position: fc.nat(),
  removed: fc.nat({ max: 1 }),
  text: fc.constantFrom('', '0', 'f', 'x', ' ', 'é', '\0'),
})

test('[CHN-6] any single change of any field of any entry is found, at that entry at the latest', () => {
  fc.assert(
    fc.property(log, change, (entries, { at, field, position, removed, text }) => {
      const index = at % entries.length
      const entry = entries[index]!
      const old = entry[field as 'hash']
      const cut = position % (old.length + 1)
      const value = old.slice(0, cut) + text + old.slice(cut + removed)
      if (value === old) return
      const { fault, head } = verify(entries.with(index, { ...entry, [field]: value }))
      assert.equal(fault?.seq, entry.seq)
      assert.equal(head, entries[index - 1]?.hash ?? GENESIS_HASH)
    }),
    propertyRuns(2000),
  )
})

test('[CHN-6] any entry taken out, doubled, renumbered or swapped with another is found', () => {
  const kind = fc.constantFrom('remove', 'double', 'renumber', 'swap')
  fc.assert(
    fc.property(log, kind, fc.nat(), fc.nat(), (entries, how, first, second) => {
      const [a, b] = [first % entries.length, second % entries.length]
      const [one, other] = [entries[a]!, entries[b]!]
      const isLast = a === entries.length - 1
      const changed = {
        remove: () => entries.toSpliced(a, 1),
        double: () => entries.toSpliced(a, 0, one),
        renumber: () => entries.with(a, { ...one, seq: one.seq + 1 + second }),
        swap: () => entries.with(a, other).with(b, one),
      }[how]()
      const { fault, count, head } = verify(changed)
      // An end cut off is no break in the chain: it is the head that tells.
      const isCutEnd = how === 'remove' && isLast
      const isUnchanged = how === 'swap' && a === b
      if (isCutEnd) assert.deepEqual([fault, count], [undefined, entries.length - 1])
      else if (!isUnchanged) assert.ok(fault)
      if (isCutEnd) assert.notEqual(head, entries.at(-1)?.hash)
    }),
    propertyRuns(1000),
  )
})
