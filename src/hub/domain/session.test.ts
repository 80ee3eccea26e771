import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TokenHash } from '../../protocol/identifiers.ts'
import type { AccessToken } from './access-token.ts'
import {
  decideSessionRoom,
  endOf,
  idleEnd,
  isSessionOpen,
  type KnownSession,
  type Session,
  sessionEnd,
} from './session.ts'

/** docs/protocol.md SES-10, SES-4. */
const OPEN_PER_HOLDER_MAX = 50
const KEPT_PER_HOLDER_MAX = 100
const OPEN_MAX = 1000
const KEPT_MAX = 2000
const SESSION_KEPT_MS = 7 * 86_400_000

const NOW = new Date('2026-11-21T10:00:00Z')
const MINUTE_MS = 60_000
const hashed = (text: string): TokenHash => text.padStart(64, '0') as TokenHash
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

/** Of a person where one is named, and of a token otherwise. */
function newToken(of: string, changes: Partial<AccessToken> = {}): AccessToken {
  return {
    hash: hashed(of),
    name: 'ana',
    person: null,
    role: 'viewer',
    only: null,
    createdAt: NOW,
    expiresAt: after(24 * 60 * MINUTE_MS),
    lastUsedAt: null,
    revokedAt: null,
    endedAt: null,
    ...changes,
  }
}

const personOf = (subject: string, issuer = 'https://sso.example.org') => ({ issuer, subject })

/** Newest first: each began a second before the one in front of it. */
function many(
  count: number,
  token: AccessToken | ((at: number) => AccessToken) = newToken('a'),
  changes: Partial<Session> = {},
): KnownSession[] {
  return Array.from({ length: count }, (_, at) => {
    const of = typeof token === 'function' ? token(at) : token
    const startedAt = after(-at * 1000)
    const halves = { cookieHash: hashed(`${of.hash.slice(-8)}${at}`), tokenHash: of.hash }
    const session = newSession({ startedAt, lastUsedAt: startedAt, ...halves, ...changes })
    return { token: of, session }
  })
}

const sessionsOf = (known: readonly KnownSession[]) => known.map(({ session }) => session)

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

test('[SES-6] what was begun or used by a clock that ran ahead is over once the clock is right', () => {
  const justAhead = { startedAt: after(MINUTE_MS), lastUsedAt: after(MINUTE_MS) }
  assert.ok(isSessionOpen(newSession(justAhead), NOW), 'hubs of a vault have clocks of their own')
  assert.ok(!isSessionOpen(newSession({ startedAt: after(MINUTE_MS + 1) }), NOW))
  const used = newSession({ lastUsedAt: after(MINUTE_MS + 1) })
  assert.ok(!isSessionOpen(used, NOW))
  assert.deepEqual(endOf(used, NOW), NOW)
  assert.deepEqual(endOf(newSession(), after(60 * MINUTE_MS)), after(30 * MINUTE_MS))
})

describe('[SES-10] for one more session', () => {
  const decide = (all: readonly KnownSession[], holder: string = hashed('a')) =>
    decideSessionRoom(all, holder, NOW)

  test('nothing goes while there is room', () => {
    assert.deepEqual(decide(many(OPEN_PER_HOLDER_MAX - 1)), { ending: [], leaving: [] })
  })

  test('the oldest of the holder ends, and stays to be told of', () => {
    const all = many(OPEN_PER_HOLDER_MAX)
    assert.deepEqual(decide(all), { ending: all.slice(-1), leaving: [] })
    assert.deepEqual(decide(many(OPEN_PER_HOLDER_MAX, newToken('b'))), { ending: [], leaving: [] })
  })

  test('all tokens of a person are one holder, however the issuer is spelled', () => {
    const issuers = ['https://sso.example.org', 'https://sso.example.org/']
    const all = many(OPEN_PER_HOLDER_MAX, (at) =>
      newToken(`t${at}`, { person: personOf('1', issuers[at % 2]) }),
    )
    const { ending } = decide(all, 'https://sso.example.org\n1')
    assert.deepEqual(ending, all.slice(-1))
    assert.deepEqual(decide(all, 'https://sso.example.org\n2').ending, [])
  })

  test('those that ended first leave when there are too many of the holder', () => {
    const all = many(KEPT_PER_HOLDER_MAX, newToken('a'), { endedAt: NOW })
    assert.deepEqual(decide(all), { ending: [], leaving: sessionsOf(all.slice(-1)) })
    const first = all.slice(3, 4).map(({ session, token }) => ({
      token,
      session: { ...session, endedAt: after(-1) },
    }))
    assert.deepEqual(decide(all.toSpliced(3, 1, ...first)).leaving, sessionsOf(first))
  })

  test('what ends for it is told of, however many have ended', () => {
    const open = many(OPEN_PER_HOLDER_MAX)
    const over = many(OPEN_PER_HOLDER_MAX, newToken('a'), { endedAt: after(-1) })
    const { ending, leaving } = decide([...over, ...open])
    assert.deepEqual(ending, open.slice(-1))
    assert.deepEqual(leaving, sessionsOf(over.slice(-1)))
  })

  test('the oldest of all ends where nobody has more than another, and stays to be told of', () => {
    const all = many(OPEN_MAX, (at) => newToken(`b${at}`))
    assert.deepEqual(decide(all), { ending: all.slice(-1), leaving: [] })
  })

  test('none of another holder ends while that one has fewer', () => {
    const person = { person: personOf('1') }
    const own = many(30, (at) => newToken(`o${at}`, person))
    const others = many(OPEN_MAX - own.length, (at) => newToken(`b${at % 97}`))
    assert.deepEqual(
      decide([...own, ...others], 'https://sso.example.org\n1').ending,
      own.slice(-1),
    )
    const [most] = many(1, newToken('c'))
    const all = [...own, ...others.slice(1), ...(most ? [most] : [])]
    assert.deepEqual(decide(all, hashed('c')).ending, own.slice(-1))
  })

  test('of all, those leave that have ended, and no open one', () => {
    const open = many(OPEN_MAX - 1, (at) => newToken(`b${at}`))
    const over = many(KEPT_MAX - OPEN_MAX + 1, (at) => newToken(`c${at}`), { endedAt: NOW })
    assert.deepEqual(decide([...over, ...open]), {
      ending: [],
      leaving: sessionsOf(over.slice(-1)),
    })
  })

  test('what was of a token that has ended is not open', () => {
    const all = many(OPEN_PER_HOLDER_MAX, newToken('a', { revokedAt: NOW }))
    assert.deepEqual(decide(all), { ending: [], leaving: [] })
  })

  test('what is over for a week leaves', () => {
    const endsAt = after(-SESSION_KEPT_MS)
    const over = many(1, newToken('a'), { endsAt })
    const kept = many(1, newToken('b'), { endsAt: after(1 - SESSION_KEPT_MS) })
    assert.deepEqual(decide([...kept, ...over]), { ending: [], leaving: sessionsOf(over) })
  })
})
