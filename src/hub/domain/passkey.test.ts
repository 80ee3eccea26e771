import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideRegistration, isLaterUse, nextChallengeAt, type Passkey } from './passkey.ts'

const NOW = new Date('2026-11-21T10:00:00.123Z')
const after = (durationMs: number): Date => new Date(NOW.getTime() + durationMs)

function newPasskey(changes: Partial<Passkey> = {}): Passkey {
  return {
    credentialId: 'AAAA',
    name: 'ana',
    person: null,
    label: 'key',
    publicKey: Buffer.alloc(1),
    transports: [],
    counter: 0,
    challengedAt: NOW,
    createdAt: NOW,
    lastUsedAt: null,
    ...changes,
  }
}

describe('[PKY-7] [PKY-8] a use is later than all before', () => {
  const uses: [how: string, before: number, counter: number, laterMs: number, isLater: boolean][] =
    [
      ['by a later challenge, of an authenticator that counts nothing', 0, 0, 1, true],
      ['not by the same challenge again, also where nothing is counted', 0, 0, 0, false],
      ['not by an earlier challenge', 0, 0, -1, false],
      ['by a later challenge and a higher count', 5, 6, 1, true],
      ['not by the same count', 5, 5, 1, false],
      ['not by a lower count', 5, 4, 1, false],
      ['not by none where there was one', 5, 0, 1, false],
      ['not by a higher count of the same challenge', 5, 6, 0, false],
      ['by a count where there was none', 0, 1, 1, true],
    ]
  for (const [how, before, counter, laterMs, isLater] of uses) {
    test(how, () => {
      const signed = { challengedAt: after(laterMs), counter }
      assert.equal(isLaterUse(newPasskey({ counter: before }), signed), isLater)
    })
  }
})

test('[PKY-8] a challenge comes after all that were signed, also when the clock was set back', () => {
  assert.deepEqual(nextChallengeAt([], NOW), NOW)
  assert.deepEqual(nextChallengeAt([newPasskey()], after(60_000)), after(60_000))
  assert.deepEqual(nextChallengeAt([newPasskey()], after(-60_000)), after(1))
})

test('[PKY-3] the first one has five minutes, the others none, and ten are all', () => {
  const at = (count: number, durationMs: number) =>
    decideRegistration(
      Array.from({ length: count }, () => newPasskey()),
      NOW,
      after(durationMs),
    )
  assert.deepEqual([at(0, 300_000), at(0, 300_001)], ['open', 'late'])
  assert.deepEqual([at(1, 0), at(9, 0), at(10, 0)], ['confirmed', 'confirmed', 'full'])
})
