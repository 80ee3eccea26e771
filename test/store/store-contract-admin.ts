// What the admin API needs of every Store: a part of the suite.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { TokenHash } from '../../src/protocol/identifiers.ts'
import type { AccessToken } from '../../src/hub/domain/access-token.ts'
import type { Page, Store } from '../../src/hub/store/store.ts'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  insertToken,
  LATER,
  newEntry,
  NOW,
} from './store-samples.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'

export function testAccessTokens(store: () => Store): void {
  test('an admin token is found by its hash and listed newest first, field for field', async () => {
    const [first, second] = [newAccessToken(LATER), newAccessToken(LATER)]
    const changed: AccessToken = { ...first, lastUsedAt: NOW, revokedAt: LATER, endedAt: LATER }
    await store().write(async (writer) => {
      await writer.insertAccessToken(first)
      await writer.insertAccessToken(second)
      await writer.updateAccessToken(changed)
      await writer.setAccessTokenUsed(second.hash, LATER)
    })
    const { reader } = store()
    assert.deepEqual(await reader.findAccessToken(first.hash), changed)
    assert.deepEqual(await reader.listAccessTokens(), [{ ...second, lastUsedAt: LATER }, changed])
    assert.equal(await reader.findAccessToken('0'.repeat(64) as TokenHash), undefined)
  })

  test('[API-4] an entry of the log ends for good the admin tokens that have expired by then, and no others', async () => {
    const expired = newAccessToken(LATER)
    const open = newAccessToken(new Date(LATER.getTime() + 1))
    const revoked = { ...newAccessToken(LATER), revokedAt: NOW }
    await store().write(async (writer) => {
      for (const token of [expired, open, revoked]) await writer.insertAccessToken(token)
      await appendEntry(writer, newEntry({ at: NOW }))
    })
    const { reader } = store()
    assert.deepEqual(await reader.listAccessTokens(), [revoked, open, expired])
    await store().write((writer) => appendEntry(writer, newEntry({ at: LATER })))
    assert.deepEqual(await reader.listAccessTokens(), [
      revoked,
      open,
      { ...expired, endedAt: LATER },
    ])
  })
}

export function newAccessToken(expiresAt: Date): AccessToken {
  return {
    hash: randomBytes(32).toString('hex') as TokenHash,
    name: 'ci',
    role: 'operator',
    person: null,
    only: null,
    createdAt: NOW,
    expiresAt,
    lastUsedAt: null,
    revokedAt: null,
    endedAt: null,
  }
}

export function testPages(store: () => Store): void {
  const readAll = async <T>(
    read: (page: Page) => Promise<T[] | undefined>,
    idOf: (row: T) => string,
  ): Promise<T[]> => {
    const rows: T[] = []
    for (;;) {
      const last = rows.at(-1)
      const page = await read({ after: last && idOf(last), limit: 2 })
      assert.ok(page !== undefined && page.length <= 2)
      if (page.length === 0) return rows
      rows.push(...page)
    }
  }

  test('a list that is read page by page is the whole list', async () => {
    const { reader } = store()
    for (const hostname of ['c', 'a', 'e', 'b', 'd']) await insertAgent(store(), hostname)
    const [agent, removed] = (await reader.pageAgents({ limit: 99 })) ?? []
    assert.ok(agent !== undefined && removed !== undefined)
    const cargoes = []
    const tokens: TokenHash[] = []
    for (const name of ['one', 'two', 'three']) {
      tokens.unshift((await insertToken(store())).hash)
      const cargo = await insertCargo(store(), name)
      await insertDelivery(store(), agent.id, cargo)
      cargoes.push(cargo)
    }
    assert.deepEqual(
      await readAll(reader.pageAgents.bind(reader), ({ id }) => id),
      await reader.pageAgents({ limit: 99 }),
    )
    const paged = await readAll(reader.pageTokens.bind(reader), ({ hash }) => hash.slice(0, 16))
    assert.deepEqual(
      paged.map(({ hash }) => hash),
      tokens,
    )
    assert.deepEqual(await readAll(reader.pageCargoes.bind(reader), ({ id }) => id), cargoes)
    assert.deepEqual(
      await readAll(reader.pageDeliveries.bind(reader), ({ id }) => id),
      await reader.listDeliveries({ agentId: agent.id }),
    )
    const made = Array.from({ length: 5 }, () => newAccessToken(LATER))
    for (const token of made) await store().write((writer) => writer.insertAccessToken(token))
    assert.deepEqual(
      await readAll(reader.pageAccessTokens.bind(reader), ({ hash }) => hash.slice(0, 16)),
      made.toReversed(),
    )
    // What is removed between two pages is still a place in the list.
    await store().write((writer) => writer.updateAgent({ ...removed, removedAt: LATER }))
    const rest = await reader.pageAgents({ after: removed.id, limit: 9 })
    assert.deepEqual(
      rest?.map(({ hostname }) => hostname),
      ['c', 'd', 'e'],
    )
  })

  test('there is no page after a row that is not there', async () => {
    const { reader } = store()
    await insertToken(store())
    for (const after of ['', 'x', randomUUID(), '0'.repeat(16), '%', '*']) {
      assert.equal(await reader.pageAgents({ after, limit: 1 }), undefined)
      assert.equal(await reader.pageTokens({ after, limit: 1 }), undefined)
      assert.equal(await reader.pageAccessTokens({ after, limit: 1 }), undefined)
      assert.equal(await reader.pageCargoes({ after, limit: 1 }), undefined)
      assert.equal(await reader.pageDeliveries({ after, limit: 1 }), undefined)
    }
  })

  test('a kept reply is found until it expires, and then makes room', async () => {
    const { reader } = store()
    const reply = { id: 'a', sealed: Buffer.from([1, 2, 3]), expiresAt: LATER }
    await store().write((writer) => writer.insertReply(reply, NOW))
    assert.deepEqual(await reader.findReply('a', NOW), reply)
    assert.equal(await reader.findReply('a', LATER), undefined)
    assert.equal(await reader.findReply('b', NOW), undefined)
    await store().write((writer) => writer.insertReply(reply, LATER))
  })
}
