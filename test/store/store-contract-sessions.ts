// What sessions need of every Store: a part of the suite.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Session, SignInCode } from '../../src/hub/domain/session.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { TokenHash } from '../../src/protocol/identifiers.ts'
import { LATER, NOW } from './store-samples.ts'

export function testSessions(store: () => Store): void {
  const newHash = (): TokenHash => randomBytes(32).toString('hex') as TokenHash

  async function insertToken(): Promise<TokenHash> {
    const hash = newHash()
    const token = {
      hash,
      name: hash.slice(0, 16),
      role: 'viewer',
      person: null,
      only: null,
      createdAt: NOW,
      expiresAt: LATER,
      lastUsedAt: null,
      revokedAt: null,
      endedAt: null,
    } as const
    await store().write((writer) => writer.insertAccessToken(token))
    return hash
  }

  const newSession = (tokenHash: TokenHash): Session => ({
    cookieHash: newHash(),
    secretHash: newHash(),
    tokenHash,
    address: '192.0.2.7',
    startedAt: NOW,
    lastUsedAt: NOW,
    endsAt: LATER,
    endedAt: null,
  })

  test('a session is found by the hash of its cookie and listed newest first, field for field', async () => {
    const tokenHash = await insertToken()
    const [first, second, gone] = [
      newSession(tokenHash),
      newSession(tokenHash),
      newSession(tokenHash),
    ]
    await store().write(async ({ sessions }) => {
      for (const session of [first, gone, second]) await sessions.insert(session)
      await sessions.setUsed(first.cookieHash, LATER)
      await sessions.setEnded(second.cookieHash, NOW)
      // Once: what comes late changes neither.
      await sessions.setEnded(second.cookieHash, LATER)
      await sessions.setUsed(second.cookieHash, LATER)
      await sessions.remove(gone.cookieHash)
    })
    const { sessions } = store().reader
    const kept = [
      { ...second, endedAt: NOW },
      { ...first, lastUsedAt: LATER },
    ]
    assert.deepEqual(await sessions.list(), kept)
    assert.deepEqual(await sessions.find(first.cookieHash), kept[1])
    assert.equal(await sessions.find(first.secretHash), undefined)
  })

  test('a code is found by its hash until it expired before another was made', async () => {
    const tokenHash = await insertToken()
    const newCode = (expiresAt: Date): SignInCode => ({
      hash: newHash(),
      tokenHash,
      expiresAt,
      usedAt: null,
    })
    const [early, used] = [newCode(NOW), newCode(LATER)]
    await store().write(async (writer) => {
      await writer.sessions.insertCode(early, NOW)
      await writer.sessions.insertCode(used, NOW)
      await writer.sessions.setCodeUsed(used.hash, NOW)
    })
    const { sessions } = store().reader
    assert.deepEqual(await sessions.findCode(early.hash), early)
    assert.deepEqual(await sessions.findCode(used.hash), { ...used, usedAt: NOW })
    await store().write((writer) => writer.sessions.insertCode(newCode(LATER), LATER))
    assert.equal(await sessions.findCode(early.hash), undefined)
    assert.notEqual(await sessions.findCode(used.hash), undefined)
  })

  test('all of them go at once', async () => {
    const session = newSession(await insertToken())
    const code = { hash: newHash(), tokenHash: session.tokenHash, expiresAt: LATER, usedAt: null }
    await store().write(async (writer) => {
      await writer.sessions.insert(session)
      await writer.sessions.insertCode(code, NOW)
      await writer.sessions.removeAll()
    })
    const { sessions } = store().reader
    assert.deepEqual(await sessions.list(), [])
    assert.equal(await sessions.findCode(code.hash), undefined)
  })
}
