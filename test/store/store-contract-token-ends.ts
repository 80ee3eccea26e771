import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GENESIS_HASH } from '../../src/audit/hash-chain.ts'
import type { Store, StoreWriter } from '../../src/hub/store/store.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'
import type { TokenHash } from '../../src/protocol/identifiers.ts'
import { append, insertToken, newEntry, NOW } from './store-samples.ts'

const ALL = { afterSeq: 0, limit: 1000 }

/** What the log's entries do to tokens whose time is over. */
export function testTokenEnds(store: () => Store): void {
  const SOON = new Date(NOW.getTime() + 60_000)

  test('[TOK-4] an entry of the log ends for good the tokens that have expired by then, and no others', async () => {
    const expired = await insertToken(store(), { expiresAt: SOON })
    const open = await insertToken(store(), { expiresAt: new Date(SOON.getTime() + 1) })
    const consumed = await insertToken(store(), { expiresAt: SOON, consumedAt: NOW })
    const revoked = await insertToken(store(), { expiresAt: NOW, endedAt: NOW })
    await append(store(), { at: NOW })
    assert.deepEqual(await store().reader.findToken(expired.hash), expired)
    await append(store(), { at: SOON })
    const ended = { ...expired, endedAt: SOON }
    assert.deepEqual(await store().reader.pageTokens({ limit: 9 }), [
      revoked,
      consumed,
      open,
      ended,
    ])
  })

  test('[TOK-4] entries of one commit end what expires between them, and what was made between them, although one of them fails', async () => {
    const early = await insertToken(store(), { expiresAt: SOON })
    const made = { ...early, hash: 'f'.repeat(64) as TokenHash }
    const failing = (writer: StoreWriter): Promise<never> =>
      appendEntry(writer, newEntry({ at: SOON })).then(() => Promise.reject(new Error('no')))
    const outcomes = await Promise.allSettled([
      append(store(), { at: NOW }),
      store().write(failing),
      append(store(), { at: SOON }),
      store().write((writer) => writer.insertToken(made)),
      append(store(), { at: SOON }),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    for (const { hash } of [early, made]) {
      assert.deepEqual((await store().reader.findToken(hash))?.endedAt, SOON)
    }
    const entries = await store().reader.listEntries(ALL)
    assert.deepEqual(
      entries.map(({ seq, previousHash }) => [seq, previousHash]),
      entries.map(({ seq }) => [seq, entries[seq - 2]?.hash ?? GENESIS_HASH]),
    )
  })

  test('[TOK-4] a token that was made after the clock had been ahead is not older than itself', async () => {
    await append(store(), { at: new Date('2036-06-01T00:00:00Z') })
    const token = await insertToken(store(), { expiresAt: SOON })
    await append(store(), { at: NOW })
    assert.deepEqual(await store().reader.findToken(token.hash), token)
    await append(store(), { at: SOON })
    assert.deepEqual((await store().reader.findToken(token.hash))?.endedAt, SOON)
  })
}
