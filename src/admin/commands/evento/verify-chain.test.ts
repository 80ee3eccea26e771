import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chainEntries } from '../../../audit/chain-entries.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import { verifyChain } from './verify-chain.ts'

const SILENT = { show: () => undefined, clear: () => undefined }
const COUNT = 12_001

const log = chainEntries(
  undefined,
  Array.from({ length: COUNT }, (_, index) => ({ payloadText: `{"n":${index}}`, at: new Date(0) })),
).map(({ seq, payloadText, timestamp, previousHash, hash }) => ({
  seq,
  payload_text: payloadText,
  timestamp,
  hash_anterior: previousHash,
  hash_atual: hash,
}))

type Link = Pick<AdminEntry, 'seq' | 'payload_text' | 'timestamp' | 'hash_anterior' | 'hash_atual'>

function hubWith(links: readonly Link[]): {
  operations: AdminOperations
  asked: number[]
} {
  const asked: number[] = []
  const operations = {
    listChain: async ({ after = 0, limit = 0 }) => {
      asked.push(after)
      const eventos = links.slice(after, after + limit).map((link) => {
        const { seq, payload_text, timestamp, hash_anterior, hash_atual } = link
        return `${seq} ${hash_anterior} ${timestamp} ${hash_atual} ${payload_text}`
      })
      return { eventos, next: after + limit < links.length ? after + limit : null }
    },
  }
  return { operations: operations as unknown as AdminOperations, asked }
}

describe('verifyChain', () => {
  test('[API-30] [CLI-17] reads the chain in pages, and finds what is wrong in any of them', async () => {
    const { operations, asked } = hubWith(log)
    const good = await verifyChain(operations, SILENT)
    assert.deepEqual(good, {
      ok: true,
      count: COUNT,
      head: log.at(-1)?.hash_atual,
      first_bad: null,
    })
    assert.deepEqual(asked, [0, 5000, 10_000])
    const changed = log.with(11_999, { ...log[11_999]!, payload_text: '{"n":0}' })
    const bad = await verifyChain(hubWith(changed).operations, SILENT)
    assert.deepEqual(
      [bad.ok, bad.count, bad.head, bad.first_bad?.seq],
      [false, COUNT, log[11_998]?.hash_atual, 12_000],
    )
  })

  test('[API-30] [VER-8] reads whole entries of a hub that knows no chain', async () => {
    const operations = {
      listChain: async () => {
        throw new UserError('route_not_found', 'this hub has no operation')
      },
      listEntries: async ({ after = 0, limit = 0 }) => ({
        eventos: log.slice(after, after + limit),
      }),
    }
    const { ok, count } = await verifyChain(operations as unknown as AdminOperations, SILENT)
    assert.deepEqual({ ok, count }, { ok: true, count: COUNT })
  })

  test('a page that cannot be read is no end of the log', async () => {
    const { operations } = hubWith(log)
    const failing = {
      listChain: async (request: { after?: number; limit?: number }) => {
        if (request.after === 5000) throw new UserError('route_not_found', 'gone')
        return operations.listChain(request)
      },
    }
    await assert.rejects(verifyChain(failing as unknown as AdminOperations, SILENT), {
      code: 'route_not_found',
    })
  })
})
