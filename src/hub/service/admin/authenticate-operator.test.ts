import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { LATER, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import type { Store } from '../../store/store.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { type AuthenticateOperator, createAuthenticateOperator } from './authenticate-operator.ts'

const MINUTE_MS = 60_000

let store: Store & AsyncDisposable
let clock: SettableClock
let lines: LoggedLine[]
let authenticate: AuthenticateOperator
let plaintext: string
let isDiskFull: boolean
let writes: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  clock = createSettableClock(NOW)
  isDiskFull = false
  writes = 0
  const { log, ...collected } = collectLog()
  ;({ lines } = collected)
  const watched: Store = {
    ...store,
    write: (work) => {
      writes += 1
      return isDiskFull ? Promise.reject(new Error('no space left')) : store.write(work)
    },
  }
  authenticate = createAuthenticateOperator(watched, clock, log)
  plaintext = await insert()
})

async function insert(changes: Partial<AccessToken> = {}): Promise<string> {
  const text = `svca_${(count += 1)}`
  const dates = {
    createdAt: NOW,
    expiresAt: LATER,
    lastUsedAt: null,
    revokedAt: null,
    endedAt: null,
    person: null,
    only: null,
  }
  const token = { hash: hashToken(text), name: `ci-${count}`, role: 'viewer', ...dates } as const
  await store.write((writer) => writer.insertAccessToken({ ...token, ...changes }))
  return text
}

/** As the store has it once all that was begun is written. */
async function find(text = plaintext): Promise<AccessToken> {
  await store.write(async () => undefined)
  return (await store.reader.findAccessToken(hashToken(text))) ?? assert.fail()
}

describe('an admin token', () => {
  test('[API-3] [API-10] opens the port for who it is, and what is unknown opens nothing', async () => {
    const token = await authenticate(plaintext)
    assert.deepEqual([token?.name, token?.role], [`ci-${count}`, 'viewer'])
    assert.equal(await authenticate('svca_unknown'), undefined)
    assert.equal(await authenticate(''), undefined)
  })

  test('[API-6] opens nothing once it is revoked', async () => {
    const token = await find()
    await store.write((writer) => writer.updateAccessToken({ ...token, revokedAt: NOW }))
    assert.equal(await authenticate(plaintext), undefined)
    assert.equal(writes, 0)
  })

  test('[API-4] [TOK-4] opens nothing from the instant of its expiry on, wherever the clock goes then', async () => {
    clock.set(new Date(LATER.getTime() - 1))
    assert.ok(await authenticate(plaintext))
    clock.set(LATER)
    assert.equal(await authenticate(plaintext), undefined)
    assert.deepEqual((await find()).endedAt, LATER)
    const commits = writes
    assert.equal(await authenticate(plaintext), undefined)
    clock.set(NOW)
    assert.equal(await authenticate(plaintext), undefined)
    assert.equal(writes, commits, 'and is written down once')
  })

  test('[API-7] has the minute of its last use written, and not each use', async () => {
    await authenticate(plaintext)
    assert.deepEqual((await find()).lastUsedAt, NOW)
    clock.pass(MINUTE_MS - 1)
    await authenticate(plaintext)
    assert.deepEqual([(await find()).lastUsedAt, writes], [NOW, 1])
    clock.pass(1)
    await authenticate(plaintext)
    assert.deepEqual((await find()).lastUsedAt, new Date(NOW.getTime() + MINUTE_MS))
    clock.pass(-2 * MINUTE_MS)
    await authenticate(plaintext)
    assert.deepEqual((await find()).lastUsedAt, new Date(NOW.getTime() - MINUTE_MS))
  })

  test('[API-7] used many times at once is written once', async () => {
    const all = await Promise.all([1, 2, 3].map(() => authenticate(plaintext)))
    assert.equal(all.filter((token) => token !== undefined).length, 3)
    assert.equal(writes, 1)
  })

  test('[API-7] opens the port of a hub whose disk is full; the log says so, and it is written later', async () => {
    isDiskFull = true
    assert.ok(await authenticate(plaintext))
    assert.equal((await find()).lastUsedAt, null)
    assert.deepEqual(
      lines.map(({ level, message, fields }) => [level, message, fields['reason']]),
      [['warn', 'Use of an admin token not stored', 'no space left']],
    )
    isDiskFull = false
    assert.ok(await authenticate(plaintext))
    assert.deepEqual((await find()).lastUsedAt, NOW)
  })
})
