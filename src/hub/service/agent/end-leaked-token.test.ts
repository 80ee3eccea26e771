import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import { insertJoinRule, insertToken, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import type { Store } from '../../store/store.ts'
import { createLeakedTokens, type LeakedTokens } from './end-leaked-token.ts'
import { hashToken } from '../../domain/hash-token.ts'

const ENROLMENT = `svct_${'A'.repeat(43)}`
const ADMIN = `svca_${'B'.repeat(43)}`
const UNKNOWN = `svct_${'C'.repeat(43)}`
const ORIGIN = { port: 'enroll', address: '192.0.2.1' }
const HASHES = { enrolment: hashToken(ENROLMENT), admin: hashToken(ADMIN) }

interface Setting {
  readonly store: Store
  readonly tokens: LeakedTokens
  readonly lookedUp: TokenHash[]
  readonly logged: Record<string, unknown>[]
  readonly failWrites: () => void
}

async function withTokens(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  await insertToken(store, { hash: HASHES.enrolment, expiresAt: LATER })
  const admin: AccessToken = {
    hash: HASHES.admin,
    name: 'ci',
    role: 'admin',
    person: null,
    only: null,
    createdAt: NOW,
    expiresAt: LATER,
    lastUsedAt: null,
    revokedAt: null,
    endedAt: null,
  }
  await store.write((writer) => writer.insertAccessToken(admin))
  const lookedUp: TokenHash[] = []
  let isFailing = false
  const watched: Store = {
    ...store,
    get version() {
      return store.version
    },
    reader: new Proxy(store.reader, {
      get: (reader, name) => {
        if (name !== 'findToken' && name !== 'findAccessToken') assert.fail(String(name))
        return (hash: TokenHash) => {
          lookedUp.push(hash)
          return reader[name](hash)
        }
      },
    }),
    write: (change) => (isFailing ? Promise.reject(new Error('no disk')) : store.write(change)),
  }
  const logged: Record<string, unknown>[] = []
  const log = createLogging({
    filter: { levelOf: () => 'info' },
    format: 'json',
    destination: { write: (line) => void logged.push(JSON.parse(line) as never) },
  }).forModule('test')
  await work({
    store,
    tokens: createLeakedTokens(watched, { now: () => NOW, sleep: () => Promise.resolve() }, log),
    lookedUp,
    logged,
    failWrites: () => {
      isFailing = true
    },
  })
}

async function acts(store: Store): Promise<[string, unknown][]> {
  const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100 })
  return entries.map(({ eventType, payloadText }) => [eventType, JSON.parse(payloadText)])
}

describe('[TOK-10] a URL with', () => {
  test('an open enrolment token ends it, and that is recorded', () =>
    withTokens(async ({ store, tokens, logged }) => {
      await tokens.endTokenIn(`/v1/enroll?token=${ENROLMENT}`, ORIGIN)
      const token = await store.reader.findToken(HASHES.enrolment)
      assert.deepEqual([token?.expiresAt, token?.endedAt], [NOW, NOW])
      const tokenId = HASHES.enrolment.slice(0, 16)
      assert.deepEqual(await acts(store), [
        [
          'token_revoked',
          { actor: 'hub', token_id: tokenId, hostname: 'web-1', reason: 'in_url', ...ORIGIN },
        ],
      ])
      assert.deepEqual(
        logged.map(({ level, token_id, port, address, msg }) => [
          level,
          token_id,
          port,
          address,
          msg,
        ]),
        [['warn', tokenId, 'enroll', '192.0.2.1', 'Token ended, it was in a URL']],
      )
    }))

  test('a good admin token revokes it, and that is recorded', () =>
    withTokens(async ({ store, tokens }) => {
      await tokens.endTokenIn(`/${ADMIN}`, ORIGIN)
      assert.deepEqual((await store.reader.findAccessToken(HASHES.admin))?.revokedAt, NOW)
      assert.deepEqual(await acts(store), [
        [
          'admin_token_revoked',
          {
            actor: 'hub',
            admin_token_id: HASHES.admin.slice(0, 16),
            name: 'ci',
            reason: 'in_url',
            ...ORIGIN,
          },
        ],
      ])
    }))

  test('one that is unknown costs one look-up, and no write', () =>
    withTokens(async ({ store, tokens, lookedUp }) => {
      const before = store.version
      await tokens.endTokenIn(`/?a=${UNKNOWN}&b=${ENROLMENT}&c=${ADMIN}`, ORIGIN)
      assert.deepEqual(lookedUp, [hashToken(UNKNOWN)])
      assert.equal(store.version, before)
    }))

  test('none costs nothing, and there is nothing to wait for', () =>
    withTokens(async ({ tokens, lookedUp }) => {
      for (const url of ['/health', '/v1/manifest?x=%20', '/svct_short']) {
        assert.equal(tokens.endTokenIn(url, ORIGIN), undefined)
      }
      assert.deepEqual(lookedUp, [])
    }))

  test('the same one, again and at once, is one act', () =>
    withTokens(async ({ store, tokens, lookedUp }) => {
      const url = `/${ENROLMENT}`
      await Promise.all([1, 2, 3].map(async () => tokens.endTokenIn(url, ORIGIN)))
      assert.equal(lookedUp.length, 1)
      const before = store.version
      await tokens.endTokenIn(url, ORIGIN)
      assert.equal(store.version, before)
      assert.equal((await acts(store)).length, 1)
    }))

  test('one that cannot be ended is answered all the same, and the log says so', () =>
    withTokens(async ({ tokens, logged, failWrites }) => {
      failWrites()
      await tokens.endTokenIn(`/${ADMIN}`, ORIGIN)
      assert.deepEqual(
        logged.map(({ level, reason, msg }) => [level, reason, msg]),
        [['error', 'no disk', 'Token in a URL not ended']],
      )
    }))
})

describe('[TOK-10] [JNR-4] the token of a join rule in a URL', () => {
  test('ends its rule, once, and the log says why', async () => {
    await using store = await openTemporaryStore()
    const token = `svcj_${'D'.repeat(43)}`
    const proof = { method: 'token', tokenHash: hashToken(token) } as const
    const { rule } = await insertJoinRule(store, { proof })
    const { log } = collectLog()
    const clock = { now: () => NOW, sleep: () => Promise.resolve() }
    const tokens = createLeakedTokens(store, clock, log)
    await tokens.endTokenIn(`/v1/enroll?token=${token}`, ORIGIN)
    await tokens.endTokenIn(`/v1/enroll?token=${token}`, ORIGIN)
    assert.deepEqual((await store.reader.findJoinRule(rule.id))?.endedAt, NOW)
    assert.deepEqual(await acts(store), [
      [
        'join_rule_ended',
        {
          actor: 'hub',
          join_rule_id: rule.id,
          join_rule: rule.name,
          hosts: 0,
          reason: 'in_url',
          ...ORIGIN,
        },
      ],
    ])
  })
})
