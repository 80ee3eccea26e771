import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TokenHash } from '../../protocol/identifiers.ts'
import { decideSessionRoom, idleEnd, isSessionOpen, type Session, sessionEnd } from './session.ts'

/** docs/protocol.md SES-10, SES-4. */
const SESSIONS_PER_TOKEN_MAX = 50
const SESSIONS_KEPT_PER_TOKEN_MAX = 100
const SESSIONS_KEPT_MAX = 2000
const SESSION_KEPT_MS = 7 * 86_400_000

const NOW = new Date('2026-11-21T10:00:00Z')
const MINUTE_MS = 60_000
const hashed = (text: string): TokenHash => text.padEnd(64, '0') as TokenHash
const after = (durationMs: number): Date => new Date(NOW.getTime() + durationMs)

function newSession(changes: Partial<Session> = {}): Session {
  return {
    cookieHash: hashed('c'),
    secretHash: hashed('5'),
    tokenHash: hashed('a'),
    address: '192.0.2.7',
    startedAt: NOW,
    lastUsedAt: NOW,
    endsAt: after(12 * 60 * MINUTE_MS),
    endedAt: null,
    ...changes,
  }
}

const many = (count: number, changes: Partial<Session> = {}): Session[] =>
  Array.from({ length: count }, (_, at) => newSession({ cookieHash: hashed(`${at}`), ...changes }))

test('[SES-6] a session is open until it was idle for half an hour, or at its end', () => {
  const session = newSession()
  assert.ok(isSessionOpen(session, after(30 * MINUTE_MS - 1)))
  assert.ok(!isSessionOpen(session, after(30 * MINUTE_MS)))
  const brief = newSession({ endsAt: after(5 * MINUTE_MS) })
  assert.deepEqual(idleEnd(brief), brief.endsAt)
  assert.ok(!isSessionOpen(brief, after(5 * MINUTE_MS)))
  assert.ok(!isSessionOpen(newSession({ endedAt: NOW }), NOW))
})

test('[SES-7] its end is that of its token, twelve hours at most', () => {
  assert.deepEqual(sessionEnd(NOW, after(MINUTE_MS)), after(MINUTE_MS))
  assert.deepEqual(sessionEnd(NOW, after(24 * 60 * MINUTE_MS)), after(12 * 60 * MINUTE_MS))
})

describe('[SES-10] for one more session', () => {
  const decide = (all: readonly Session[]) => decideSessionRoom(all, hashed('a'), NOW)

  test('nothing goes while there is room', () => {
    assert.deepEqual(decide(many(SESSIONS_PER_TOKEN_MAX - 1)), { ending: [], leaving: [] })
  })

  test('the oldest of the token ends, and stays to be told of', () => {
    const all = many(SESSIONS_PER_TOKEN_MAX)
    assert.deepEqual(decide(all), { ending: all.slice(-1), leaving: [] })
    assert.deepEqual(decide(many(SESSIONS_PER_TOKEN_MAX, { tokenHash: hashed('b') })), {
      ending: [],
      leaving: [],
    })
  })

  test('those that have ended leave when there are too many of the token', () => {
    const all = many(SESSIONS_KEPT_PER_TOKEN_MAX, { endedAt: NOW })
    assert.deepEqual(decide(all), { ending: [], leaving: all.slice(-1) })
  })

  test('the oldest of all leaves, and has ended by that', () => {
    const all = Array.from({ length: SESSIONS_KEPT_MAX }, (_, at) =>
      newSession({ cookieHash: hashed(`${at}`), tokenHash: hashed(`b${at}`) }),
    )
    assert.deepEqual(decide(all), { ending: all.slice(-1), leaving: all.slice(-1) })
  })

  test('what is over for a week leaves', () => {
    const [over, kept] = [
      newSession({ endsAt: after(-SESSION_KEPT_MS) }),
      newSession({ endsAt: after(1 - SESSION_KEPT_MS) }),
    ]
    assert.deepEqual(decide([kept, over]), { ending: [], leaving: [over] })
  })
})
