import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import type { Session } from '../../domain/session.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'
import { createAuthenticateOperator, type AuthenticateOperator } from './authenticate-operator.ts'

const START_MS = Date.parse('2026-11-21T10:00:00Z')
const DAY_MS = 86_400_000

interface Setting {
  readonly store: Store
  readonly operations: AdminOperations
  readonly authenticate: AuthenticateOperator
  readonly advance: (ms: number) => void
}

async function withTokens(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  let nowMs = START_MS
  const clock = { now: () => new Date(nowMs), sleep: () => Promise.resolve() }
  const addresses = { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' }
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('t')
  await work({
    store,
    operations: createAdminOperations(
      { store, clock, addresses, hubNames: [], contentBytesMax: 1024, renewalThresholdMs: 1000 },
      'admin',
      'admin',
    ),
    authenticate: createAuthenticateOperator(store, clock, log),
    advance: (ms) => {
      nowMs += ms
    },
  })
}

test('[API-3] an admin token is kept as its SHA-256, and shown once', () =>
  withTokens(async ({ store, operations }) => {
    const made = await operations.createAccessToken({ name: 'ci', role: 'operator' })
    assert.match(made.token, /^svca_[A-Za-z0-9_-]{43}$/)
    const hash = createHash('sha256').update(made.token).digest('hex')
    assert.equal((await store.reader.findAccessToken(hash as TokenHash))?.name, 'ci')
    const { token: _text, ...listed } = made
    assert.deepEqual(await operations.listAccessTokens({}), { admin_tokens: [listed], next: null })
    assert.equal(
      Object.keys(listed).join(' '),
      'id name role created_at expires_at last_used_at revoked_at only',
    )
    const { eventos } = await operations.listEntries({})
    assert.doesNotMatch(JSON.stringify(eventos), /svca_/)
    assert.deepEqual(
      eventos.map(({ tipo_evento, payload }) => [tipo_evento, payload['name'], payload['role']]),
      [['admin_token_created', 'ci', 'operator']],
    )
  }))

test('[API-4] an admin token lives 90 days unless it is said, and no longer than a year', () =>
  withTokens(async ({ operations, authenticate, advance }) => {
    const made = await operations.createAccessToken({ name: 'ci', role: 'viewer' })
    assert.equal(made.expires_at, new Date(START_MS + 90 * DAY_MS).toISOString())
    advance(90 * DAY_MS - 1)
    assert.equal((await authenticate(made.token))?.name, 'ci')
    advance(1)
    assert.equal(await authenticate(made.token), undefined)
  }))

test('[API-4] one that was refused as expired opens nothing any more when the clock is set back', () =>
  withTokens(async ({ store, operations, authenticate, advance }) => {
    const request = { name: 'ci', role: 'viewer', ttl_seconds: 60 } as const
    const made = await operations.createAccessToken(request)
    advance(60_000)
    assert.equal(await authenticate(made.token), undefined)
    // The next write is committed after it.
    await store.write(() => Promise.resolve())
    const { version } = store
    advance(-60_000)
    assert.equal(await authenticate(made.token), undefined)
    await store.write(() => Promise.resolve())
    assert.equal(store.version, version, 'it was written down once')
    const next = await operations.createAccessToken(request)
    assert.equal((await authenticate(next.token))?.name, 'ci')
  }))

test('[API-5] a name is that of one good token, and free again when that has ended', () =>
  withTokens(async ({ operations, advance }) => {
    const request = { name: 'ci', role: 'viewer', ttl_seconds: 60 } as const
    const first = await operations.createAccessToken(request)
    await assert.rejects(operations.createAccessToken(request), { code: 'admin_token_exists' })
    advance(60_000)
    const second = await operations.createAccessToken(request)
    assert.equal((await operations.revokeAccessToken({ token: 'ci' })).id, second.id)
    await operations.createAccessToken(request)
    assert.equal((await operations.revokeAccessToken({ token: first.id })).id, first.id)
    for (const token of ['nobody', '0123456789abcdef', first.token]) {
      await assert.rejects(operations.revokeAccessToken({ token }), {
        code: 'admin_token_not_found',
        message: /^no admin token (nobody|0123456789abcdef|by its text)$/,
      })
    }
  }))

test('[API-6] a revoked token opens nothing, also when the clock is set back', () =>
  withTokens(async ({ store, operations, authenticate, advance }) => {
    const made = await operations.createAccessToken({ name: 'ci', role: 'viewer' })
    advance(1000)
    const revoked = await operations.revokeAccessToken({ token: 'ci' })
    assert.deepEqual(await operations.revokeAccessToken({ token: made.id }), revoked)
    const other = await operations.createAccessToken({
      name: 'cd',
      role: 'viewer',
      ttl_seconds: 60,
    })
    assert.equal(await authenticate(made.token), undefined)
    await store.write(() => Promise.resolve())
    assert.equal((await authenticate(other.token))?.name, 'cd', 'no other token ends with it')
    advance(-DAY_MS)
    assert.equal(await authenticate(made.token), undefined)
    const revocations = await operations.listEntries({ tipo: 'admin_token_revoked' })
    assert.equal(revocations.eventos.length, 1)
  }))

test('[API-7] requests that come together note the use of their token once', () =>
  withTokens(async ({ store, operations }) => {
    const { token } = await operations.createAccessToken({ name: 'ci', role: 'viewer' })
    let writes = 0
    const counting: Store = {
      ...store,
      write: (work) => {
        writes += 1
        return store.write(work)
      },
    }
    const clock = { now: () => new Date(START_MS), sleep: () => Promise.resolve() }
    const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('t')
    const authenticate = createAuthenticateOperator(counting, clock, log)
    await Promise.all([1, 2, 3].map(() => authenticate(token)))
    assert.equal(writes, 1)
  }))

test('[API-7] the last use of a token is written once a minute at most', () =>
  withTokens(async ({ store, operations, authenticate, advance }) => {
    const { token } = await operations.createAccessToken({ name: 'ci', role: 'viewer' })
    const use = async (): Promise<string | null | undefined> => {
      await authenticate(token)
      // The next write is committed after it.
      await store.write(() => Promise.resolve())
      return (await operations.listAccessTokens({})).admin_tokens[0]?.last_used_at
    }
    const at = (ms: number): string => new Date(START_MS + ms).toISOString()
    assert.equal(await use(), at(0))
    advance(59_999)
    assert.equal(await use(), at(0))
    advance(1)
    assert.equal(await use(), at(60_000))
    for (const wrong of ['', 'svca_', `${token}x`, token.slice(0, -1), token.toUpperCase()]) {
      assert.equal(await authenticate(wrong), undefined)
    }
  }))

test('[API-7] who signs in by a token uses it', () =>
  withTokens(async ({ store, operations }) => {
    const { token, id } = await operations.createAccessToken({ name: 'console', role: 'viewer' })
    await operations.createAccessToken({ name: 'other', role: 'viewer' })
    const session = (cookie: string, usedMs: number): Session => ({
      cookieHash: cookie as TokenHash,
      secretHash: cookie as TokenHash,
      tokenHash: createHash('sha256').update(token).digest('hex') as TokenHash,
      address: '127.0.0.1',
      startedAt: new Date(START_MS),
      lastUsedAt: new Date(START_MS + usedMs),
      endsAt: new Date(START_MS + DAY_MS),
      endedAt: null,
    })
    await store.write(async (writer) => {
      for (const each of [session('a', 60_000), session('b', 120_000), session('c', 0)]) {
        await writer.sessions.insert(each)
      }
    })
    const { admin_tokens: listed } = await operations.listAccessTokens({})
    const at = (ms: number): string => new Date(START_MS + ms).toISOString()
    assert.deepEqual(
      listed.map(({ name, last_used_at }) => [name, last_used_at]),
      [
        ['other', null],
        ['console', at(120_000)],
      ],
    )
    const usedLater = (writer: StoreWriter) =>
      writer.setAccessTokenUsed(session('a', 0).tokenHash, new Date(START_MS + 180_000))
    await store.write(usedLater)
    const [, own] = (await operations.listAccessTokens({})).admin_tokens
    assert.deepEqual([own?.id, own?.last_used_at], [id, at(180_000)])
  }))

test('[OID-7] a person who is revoked is so under each name that it had', () =>
  withTokens(async ({ store, operations }) => {
    const tokenOf = (name: string, subject: string | null): AccessToken => ({
      hash: createHash('sha256').update(name).digest('hex') as TokenHash,
      name,
      person: subject === null ? null : { issuer: 'https://sso.example.org', subject },
      role: 'viewer',
      only: null,
      createdAt: new Date(START_MS),
      expiresAt: new Date(START_MS + DAY_MS),
      lastUsedAt: null,
      revokedAt: null,
      endedAt: null,
    })
    await store.write(async (writer) => {
      await writer.insertAccessToken(tokenOf('alice@example.org', '7'))
      await writer.insertAccessToken(tokenOf('ana', null))
      await writer.insertAccessToken(tokenOf('alice.silva@example.org', '7'))
      await writer.insertAccessToken(tokenOf('bob@example.org', '8'))
    })
    const revoked = await operations.revokeAccessToken({ token: 'alice.silva@example.org' })
    assert.equal(revoked.name, 'alice.silva@example.org')
    const { admin_tokens: tokens } = await operations.listAccessTokens({})
    assert.deepEqual(
      tokens.filter(({ revoked_at: end }) => end === null).map(({ name }) => name),
      ['bob@example.org', 'ana'],
    )
    const { eventos } = await operations.listEntries({})
    assert.deepEqual(
      eventos.map(({ tipo_evento, payload }) => [tipo_evento, payload['name']]),
      [
        ['admin_token_revoked', 'alice.silva@example.org'],
        ['admin_token_revoked', 'alice@example.org'],
      ],
    )
  }))
