import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertToken, LATER, newEntry, NOW } from '../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { hashEntry } from '../../audit/hash-chain.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'
import type { AuditEntry, NewAuditEntry } from '../domain/audit-entry.ts'
import type { Store } from '../store/store.ts'
import { appendEntries, appendEntry } from './append-entries.ts'

const EARLIER = new Date(NOW.getTime() - 60_000)

let store: Store & AsyncDisposable
before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())

const record = (...entries: NewAuditEntry[]): Promise<readonly AuditEntry[]> =>
  store.write((writer) => appendEntries(writer, entries))

async function assertChained(): Promise<void> {
  const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100 })
  let previous = '0'.repeat(64)
  for (const [index, entry] of entries.entries()) {
    assert.equal(entry.seq, index + 1)
    assert.equal(entry.previousHash, previous)
    assert.equal(entry.hash, hashEntry(previous, entry.payloadText, entry.timestamp))
    previous = entry.hash
  }
}

describe('the audit log', () => {
  test('[CHN-1] [CHN-2] [CHN-3] [CHN-4] grows by entries that follow the last one, with their payload as it is', async () => {
    const [first] = await record(newEntry({ payloadText: '{"a": 1}' }))
    assert.equal(first?.previousHash, '0'.repeat(64))
    const two = await record(newEntry({ payloadText: '{"b":1.0}' }), newEntry({}))
    assert.deepEqual(
      two.map(({ seq, payloadText }) => [seq, payloadText]),
      [
        [2, '{"b":1.0}'],
        [3, '{}'],
      ],
    )
    const entry = await store.write((writer) => appendEntry(writer, newEntry({})))
    assert.equal(entry.seq, 4)
    assert.deepEqual((await store.reader.listEntries({ afterSeq: 3, limit: 1 }))[0], entry)
    await assertChained()
  })

  test('[CHN-5] has no entry that is younger than the one before, whatever the clock says', async () => {
    await record(newEntry({ at: LATER }))
    const [back] = await record(newEntry({ at: EARLIER }))
    assert.equal(back?.timestamp, '2026-11-21T11:00:00.000000Z')
    await assertChained()
  })

  test('[CHN-1] has no gap after a write that was taken back, nor from writes at once', async () => {
    const failing = store.write(async (writer) => {
      await appendEntry(writer, newEntry({}))
      throw new Error('after all not')
    })
    const others = [record(newEntry({})), record(newEntry({}), newEntry({}))]
    await assert.rejects(failing, { message: 'after all not' })
    await Promise.all(others)
    await assertChained()
  })
})

describe('[TOK-4] whatever is recorded ends the tokens that have expired by then', () => {
  const endOf = async (hash: TokenHash) => (await store.reader.findToken(hash))?.endedAt ?? null

  test('for good, and no others', async () => {
    const [expired, open, used] = [
      await insertToken(store, { expiresAt: NOW }),
      await insertToken(store, { expiresAt: LATER }),
      await insertToken(store, { expiresAt: NOW, consumedAt: NOW }),
    ]
    await record(newEntry({ at: EARLIER }))
    assert.equal(await endOf(expired.hash), null)
    await record(newEntry({ at: NOW }))
    assert.deepEqual(await endOf(expired.hash), NOW)
    assert.deepEqual([await endOf(open.hash), await endOf(used.hash)], [null, null])
    await record(newEntry({ at: LATER }))
    assert.deepEqual(await endOf(expired.hash), NOW)
  })

  test('also admin tokens, and by the time of the last of several entries', async () => {
    const hash = 'a'.repeat(64) as TokenHash
    const dates = {
      createdAt: EARLIER,
      lastUsedAt: null,
      revokedAt: null,
      endedAt: null,
      person: null,
      only: null,
    }
    const token = { hash, name: 'ci', role: 'admin', expiresAt: NOW, ...dates } as const
    await store.write((writer) => writer.insertAccessToken(token))
    await record(newEntry({ at: EARLIER }), newEntry({ at: NOW }))
    assert.deepEqual((await store.reader.findAccessToken(hash))?.endedAt, NOW)
  })

  test('but not one that was made after the clock had been ahead: the clock has to come to its end', async () => {
    await record(newEntry({ at: LATER }))
    const token = await insertToken(store, { expiresAt: NOW })
    await record(newEntry({ at: EARLIER }))
    assert.equal(await endOf(token.hash), null)
  })

  test('and nothing is written when nothing is recorded', async () => {
    const token = await insertToken(store, { expiresAt: EARLIER })
    assert.deepEqual(await record(), [])
    assert.equal(await endOf(token.hash), null)
  })
})
