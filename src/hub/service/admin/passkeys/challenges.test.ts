import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW } from '../../../../../test/store/store-samples.ts'
import { Secret } from '../../../../platform/secret.ts'
import type { TokenHash } from '../../../../protocol/identifiers.ts'
import { createChallenges } from './challenges.ts'

const SUBJECT = { session: 'a'.repeat(64) as TokenHash, requestSha256: 'b'.repeat(64) }
const MINUTE_MS = 60_000
const after = (durationMs: number): Date => new Date(NOW.getTime() + durationMs)
const challengesOf = (byte: number) => createChallenges(new Secret(Buffer.alloc(32, byte)))

test('[PKY-8] a challenge is good for two minutes, at each hub of the vault and at no other one', () => {
  const made = challengesOf(7).make(SUBJECT, NOW, NOW)
  const open = (byte: number, atMs: number) => challengesOf(byte).open(made, SUBJECT, after(atMs))
  assert.deepEqual(open(7, 2 * MINUTE_MS - 1), { challengedAt: NOW })
  assert.deepEqual(open(7, 2 * MINUTE_MS), { fault: 'the challenge has expired' })
  assert.deepEqual(open(8, 0), { fault: 'not a challenge for this request' })
})

test('[PKY-8] no two challenges are alike, and whoever changes a byte of one has none', () => {
  const challenges = challengesOf(7)
  const made = Array.from({ length: 100 }, () => challenges.make(SUBJECT, NOW, NOW))
  assert.equal(new Set(made).size, 100)
  const [first = ''] = made
  for (let at = 0; at < 64; at += 1) {
    const bytes = Buffer.from(first, 'base64url')
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    assert.deepEqual(challenges.open(bytes.toString('base64url'), SUBJECT, NOW), {
      fault: 'not a challenge for this request',
    })
  }
})
