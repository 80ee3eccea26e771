// readAgeHeader against files that the library made, and against hostile ones; test/foreign/age.test.ts has the real age.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import type { Recipient } from '../protocol/identifiers.ts'
import { generateAgeIdentity, recipientOf } from './age-identity.ts'
import { readAgeHeader } from './age-header.ts'
import { openSealed, sealFor } from './sealed-file.ts'

const HEADER_MAX = 4 * 1024 * 1024
const CHUNK = 64 * 1024

let identity: string
let recipient: Recipient
let sample: Buffer
before(async () => {
  identity = await generateAgeIdentity()
  recipient = await recipientOf(identity)
  sample = Buffer.from(await sealFor([recipient, recipient], Buffer.from('secret')))
})

/** Around the ends of chunks, where counting goes wrong. */
const contentBytes = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc
    .record({ chunks: fc.integer({ min: 1, max: 3 }), more: fc.integer({ min: -17, max: 17 }) })
    .map(({ chunks, more }) => chunks * CHUNK + more),
)

describe('the header of an age file', () => {
  test('[SEA-1] says how many the file is for and how much it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), contentBytes, async (count, bytes) => {
        const file = await sealFor(Array(count).fill(recipient), new Uint8Array(bytes))
        assert.deepEqual(readAgeHeader(file, HEADER_MAX), {
          ok: true,
          recipientCount: count,
          contentBytes: bytes,
        })
      }),
      propertyRuns(20),
    )
  })
})

describe('a hostile header', () => {
  const headerEnd = (file: Buffer): number => file.indexOf('\n', file.indexOf('\n--- ') + 1) + 1

  test('is answered with a value, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, hasVersion) => {
        const start = hasVersion ? 'age-encryption.org/v1\n' : ''
        const file = Buffer.concat([Buffer.from(start), bytes])
        assert.equal(readAgeHeader(file, HEADER_MAX).ok, false)
      }),
      propertyRuns(),
    )
  })

  test('that is cut off anywhere is refused', () => {
    const payloadLeast = 16 + 16
    fc.assert(
      fc.property(fc.integer({ min: 0, max: headerEnd(sample) + payloadLeast - 1 }), (length) => {
        assert.equal(readAgeHeader(sample.subarray(0, length), HEADER_MAX).ok, false)
      }),
      propertyRuns(),
    )
  })

  test('with a byte changed is refused by us, or is one that the library reads', async () => {
    const end = headerEnd(sample)
    const place = fc.integer({ min: 0, max: end - 1 })
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 0, max: 255 }), async (at, byte) => {
        const changed = Buffer.from(sample)
        changed[at] = byte
        if (!readAgeHeader(changed, HEADER_MAX).ok) return
        const opened = await openSealed(identity, changed)
        // What it then finds wrong is a secret's matter: the form was right.
        if (!opened.ok) assert.match(opened.reason, /HMAC|no identity matched|tag/)
      }),
      propertyRuns(60),
    )
  })

  test('longer than the bound is refused without looking further', () => {
    const end = headerEnd(sample)
    assert.equal(readAgeHeader(sample, end).ok, true)
    assert.deepEqual(readAgeHeader(sample, end - 1), {
      ok: false,
      reason: 'its header has no end',
    })
  })

  const hybrid = (): string => sample.toString('latin1', 22, sample.indexOf('\n-> ', 22))
  const mac = `--- ${'A'.repeat(43)}\n`
  const payload = 'p'.repeat(32)
  const cases: readonly (readonly [string, () => string, string])[] = [
    ['no recipients', () => mac + payload, 'it is sealed to nobody'],
    [
      'a stanza without a body',
      () => `${hybrid().split('\n')[0]}\n${mac}${payload}`,
      'a stanza in its header is malformed',
    ],
    [
      'a stanza that is all there is',
      () => `${hybrid().split('\n')[0]}\n`,
      'its header has no end',
    ],
    [
      'a stanza with one argument more',
      () => `${hybrid().replace('\n', ' more\n')}\n${mac}${payload}`,
      'a stanza in its header is malformed',
    ],
    [
      'a stanza with a body of two lines',
      () => `${hybrid()}\n${'A'.repeat(64)}\n${mac}${payload}`,
      'its header is malformed',
    ],
    [
      'a body that is not canonical',
      () => `${hybrid().slice(0, -1)}B\n${mac}${payload}`,
      'a stanza in its header is malformed',
    ],
    [
      'a passphrase',
      () => `-> scrypt c2FsdA 10\nAAAA\n${mac}${payload}`,
      'it is sealed to a recipient that is not post-quantum: scrypt',
    ],
    [
      'a kind of a million letters',
      () => `-> ${'k'.repeat(1_000_000)}\nAAAA\n${mac}${payload}`,
      `it is sealed to a recipient that is not post-quantum: ${'k'.repeat(40)}`,
    ],
    [
      'Windows line ends',
      () => `${hybrid()}\n${mac}${payload}`.replaceAll('\n', '\r\n'),
      'its header is malformed',
    ],
    ['controls', () => `-> \u001b[2J\n`, 'its header is malformed'],
    [
      'a content that has only a nonce',
      () => `${hybrid()}\n${mac}${'p'.repeat(16)}`,
      'its content is cut short',
    ],
    [
      'a second chunk with nothing in it',
      () => `${hybrid()}\n${mac}${'p'.repeat(16 + CHUNK + 16 + 16)}`,
      'its content is cut short',
    ],
  ]
  for (const [what, rest, reason] of cases) {
    test(`with ${what} is refused`, () => {
      const file = Buffer.from(`age-encryption.org/v1\n${rest()}`, 'latin1')
      assert.deepEqual(readAgeHeader(file, HEADER_MAX), { ok: false, reason })
    })
  }
})
