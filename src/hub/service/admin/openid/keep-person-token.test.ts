// The tokens of people, and how many of them the hub keeps: docs/protocol.md OID-7, OID-12.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW } from '../../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../../test/support/temporary-store.ts'
import { isGood } from '../../../domain/access-token.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import type { Store } from '../../../store/store.ts'
import { endPersonTokens, keepPersonToken, type PersonToken } from './keep-person-token.ts'

const DAY_MS = 86_400_000
const PERSON = { issuer: 'https://sso.example.org', subject: '7' }

function tokenAt(text: string, createdAt: Date, changed: Partial<PersonToken> = {}): PersonToken {
  return {
    hash: hashToken(text),
    name: 'alice@example.org',
    person: PERSON,
    role: 'viewer',
    only: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + DAY_MS / 2),
    lastUsedAt: null,
    revokedAt: null,
    endedAt: null,
    ...changed,
  }
}

const keep = (store: Store, token: PersonToken) =>
  store.write((writer) => keepPersonToken(writer, token))

test('[OID-7] a person has twenty good tokens: one more ends the oldest', async () => {
  await using store = await openTemporaryStore()
  for (let at = 0; at < 22; at += 1) {
    const acts = await keep(store, tokenAt(`t${at}`, new Date(NOW.getTime() + at)))
    assert.ok(acts !== 'sign_in_name_taken')
    assert.deepEqual(
      acts.map(({ type }) => type),
      at < 20 ? ['admin_token_created'] : ['admin_token_revoked', 'admin_token_created'],
    )
  }
  const good = (await store.reader.listAccessTokens()).filter((token) => isGood(token, NOW))
  assert.deepEqual(
    good.map(({ hash }) => hash),
    Array.from({ length: 20 }, (_, at) => hashToken(`t${21 - at}`)),
  )
})

test('[OID-7] the twenty are of the person, whatever it was called', async () => {
  await using store = await openTemporaryStore()
  for (let at = 0; at < 21; at += 1) {
    const name = `alice.${at}@example.org`
    await keep(store, tokenAt(`t${at}`, new Date(NOW.getTime() + at), { name }))
  }
  const good = (await store.reader.listAccessTokens()).filter((token) => isGood(token, NOW))
  assert.deepEqual([good.length, good.at(-1)?.name], [20, 'alice.1@example.org'])
})

test('[OID-7] who signs in with other rights has the earlier ones no longer', async () => {
  await using store = await openTemporaryStore()
  await keep(store, tokenAt('admin', NOW, { role: 'admin' }))
  await keep(
    store,
    tokenAt('of another', NOW, { person: { ...PERSON, subject: '8' }, name: 'b@c' }),
  )
  const acts = await keep(store, tokenAt('viewer', NOW))
  assert.ok(acts !== 'sign_in_name_taken')
  assert.deepEqual(
    acts.map(({ type, payload }) => [type, payload['reason']]),
    [
      ['admin_token_revoked', 'rights_changed'],
      ['admin_token_created', undefined],
    ],
  )
  await keep(store, tokenAt('bounded', NOW, { only: 'env = stage' }))
  await keep(store, tokenAt('bounded too', NOW, { only: 'env = stage' }))
  const good = (await store.reader.listAccessTokens()).filter((token) => isGood(token, NOW))
  assert.deepEqual(
    good.map(({ hash }) => hash),
    ['bounded too', 'bounded', 'of another'].map((text) => hashToken(text)),
  )
})

test('[OID-12] of a person who signs in and out without end a hundred ended ones are kept', async () => {
  await using store = await openTemporaryStore()
  await keep(store, tokenAt('good', new Date(NOW.getTime() - 1)))
  await store.write(async (writer) => {
    for (let at = 0; at < 130; at += 1) {
      await writer.insertAccessToken(tokenAt(`t${at}`, NOW, { revokedAt: NOW }))
    }
  })
  await keep(store, tokenAt('new', NOW))
  const kept = (await store.reader.listAccessTokens()).map(({ hash }) => hash)
  // However many came after it, one that is good is not forgotten.
  assert.deepEqual([kept.length, ...kept.slice(-2)], [102, hashToken('t30'), hashToken('good')])
})

test('[OID-7] [ERR-60] a name is another person’s only when no token of it is good', async () => {
  await using store = await openTemporaryStore()
  await keep(store, tokenAt('first', NOW))
  const other = { person: { ...PERSON, subject: '8' } }
  assert.equal(await keep(store, tokenAt('second', NOW, other)), 'sign_in_name_taken')
  const issuer = { person: { ...PERSON, issuer: 'https://evil.example' } }
  assert.equal(await keep(store, tokenAt('third', NOW, issuer)), 'sign_in_name_taken')
  const later = new Date(NOW.getTime() + DAY_MS / 2)
  assert.notEqual(await keep(store, tokenAt('second', later, other)), 'sign_in_name_taken')
})

test('[OID-12] tokens that ended a month ago are forgotten, with their sessions and codes', async () => {
  await using store = await openTemporaryStore()
  const old = tokenAt('old', NOW)
  const byHand = { ...tokenAt('by hand', NOW), name: 'ana', person: null }
  await store.write(async (writer) => {
    await keepPersonToken(writer, old)
    await writer.insertAccessToken(byHand)
    await writer.sessions.insertCode(
      { hash: hashToken('code'), tokenHash: old.hash, expiresAt: NOW, usedAt: null },
      NOW,
    )
    await writer.sessions.insert({
      cookieHash: hashToken('cookie'),
      secretHash: hashToken('secret'),
      tokenHash: old.hash,
      address: '192.0.2.7',
      startedAt: NOW,
      lastUsedAt: NOW,
      endsAt: NOW,
      endedAt: null,
    })
  })
  const month = new Date(NOW.getTime() + 30.5 * DAY_MS)
  await keep(store, tokenAt('at the last moment', month, { name: 'bob@example.org' }))
  assert.equal((await store.reader.listAccessTokens()).length, 3)
  const later = new Date(month.getTime() + 1)
  await keep(store, tokenAt('later', later, { name: 'bob@example.org' }))
  const kept = await store.reader.listAccessTokens()
  assert.deepEqual(
    kept.map(({ hash }) => hash),
    ['later', 'at the last moment', 'by hand'].map((text) => hashToken(text)),
  )
  assert.deepEqual(await store.reader.sessions.list(), [])
  assert.equal(await store.reader.sessions.findCode(hashToken('code')), undefined)
})

test('[OID-12] of those that have ended so many are kept, and good ones all', async () => {
  await using store = await openTemporaryStore()
  await store.write(async (writer) => {
    for (let at = 0; at < 5; at += 1) {
      const createdAt = new Date(NOW.getTime() + at)
      await writer.insertAccessToken(tokenAt(`t${at}`, createdAt))
    }
    const now = new Date(NOW.getTime() + DAY_MS / 2 + 3)
    await writer.sessions.removeTokensOfPeople({ now, endedBefore: NOW, keptMax: 2, also: [] })
  })
  assert.deepEqual(
    (await store.reader.listAccessTokens()).map(({ hash }) => hash),
    ['t4', 't3', 't2'].map((text) => hashToken(text)),
  )
})

test('[OID-12] of all whose time is over two thousand are kept, the newest', async () => {
  await using store = await openTemporaryStore()
  await store.write(async (writer) => {
    for (let at = 0; at < 2010; at += 1) {
      const createdAt = new Date(NOW.getTime() - DAY_MS + at)
      const person = { ...PERSON, subject: `s${at}` }
      await writer.insertAccessToken(tokenAt(`t${at}`, createdAt, { person, name: `a${at}@b` }))
    }
  })
  await keep(store, tokenAt('new', NOW))
  const kept = (await store.reader.listAccessTokens()).map(({ hash }) => hash)
  assert.deepEqual([kept.length, kept.at(-1)], [2001, hashToken('t10')])
})

test('[OID-8] of who has no role any more all good tokens end, whatever they are called, and of nobody else', async () => {
  await using store = await openTemporaryStore()
  for (const [text, name] of [
    ['one', 'alice@example.org'],
    ['two', 'alice.silva@example.org'],
    ['three', 'alice@example.org'],
  ] as const) {
    await keep(store, tokenAt(text, NOW, { name }))
  }
  const other = { person: { ...PERSON, subject: '8' }, name: 'bob@example.org' }
  await keep(store, tokenAt('of another', NOW, other))
  const acts = await store.write((writer) => endPersonTokens(writer, PERSON, NOW))
  assert.equal(acts.length, 3)
  assert.deepEqual(
    acts.map(({ type, payload }) => [type, payload['reason']]),
    acts.map(() => ['admin_token_revoked', 'rights_changed']),
  )
  const good = (await store.reader.listAccessTokens()).filter((token) => isGood(token, NOW))
  assert.deepEqual(
    good.map(({ hash }) => hash),
    [hashToken('of another')],
  )
})

test('[OID-7] [OID-8] a person is the same when the operator adds a final slash to the issuer, or takes it away', async () => {
  await using store = await openTemporaryStore()
  const slashed = { ...PERSON, issuer: `${PERSON.issuer}/` }
  await keep(store, tokenAt('before', NOW))
  const later = new Date(NOW.getTime() + 1)
  const acts = await keep(store, tokenAt('after', later, { person: slashed, role: 'operator' }))
  assert.ok(acts !== 'sign_in_name_taken')
  assert.deepEqual(
    acts.map(({ type }) => type),
    ['admin_token_revoked', 'admin_token_created'],
  )
  const ended = await store.write((writer) => endPersonTokens(writer, PERSON, later))
  assert.deepEqual(
    ended.map(({ type }) => type),
    ['admin_token_revoked'],
  )
  // A path is another thing with a slash and without.
  const ofTenant = { ...PERSON, issuer: `${PERSON.issuer}/tenant` }
  await keep(store, tokenAt('tenant', later, { person: ofTenant }))
  const other = { ...PERSON, issuer: `${PERSON.issuer}/tenant/` }
  const refused = await keep(store, tokenAt('other', later, { person: other }))
  assert.equal(refused, 'sign_in_name_taken')
})
