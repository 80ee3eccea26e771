import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Agent } from '../../domain/agent.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { SEGMENT_BLOCK_ENTRIES } from '../../domain/log-segment.ts'
import type { LogSegment } from '../../domain/log-segment.ts'
import type { StoreReader } from '../../store/store.ts'
import { listEntries } from './list-entries.ts'
import { LOOKED_MAX } from './read-chosen.ts'
import { BLOCKS_MAX } from './scan-archive.ts'

/** Every entry is of a busy agent, and nothing that anybody asks for; the first ones are archived. */
function createLog(end: number, archived = 0) {
  let blocks = 0
  let looked = 0
  const entryOf = (seq: number) =>
    ({ seq, agentId: 'busy', eventType: 'usual', payloadText: '{}' }) as AuditEntry
  const reader = {
    findLastSegment: async () => (archived === 0 ? undefined : ({ last: archived } as LogSegment)),
    listRecords: async () => {
      blocks += 1
      return []
    },
    listEntrySeqs: async (_, { afterSeq, beforeSeq = end + 1, isNewestFirst, limit }) => {
      const [first, last] = [Math.max(afterSeq, archived) + 1, Math.min(end, beforeSeq - 1)]
      const count = Math.max(0, Math.min(limit, last - first + 1))
      return Array.from({ length: count }, (_seq, at) => (isNewestFirst ? last - at : first + at))
    },
    findEntries: async (seqs) => {
      looked += seqs.length
      return seqs.map(entryOf)
    },
    findAgents: async () => [],
    findAgentByHostname: async () => ({ id: 'busy', hostname: 'busy' }) as Agent,
    listDeliveries: async () => [],
    findIndexedFrom: async () => 1,
    findChainEnd: async () => ({ seq: end, hash: '' }),
  } as Pick<StoreReader, 'listEntrySeqs' | 'findEntries'> as StoreReader
  return {
    counts: () => ({ blocks, looked }),
    list: (request: Parameters<typeof listEntries>[1]) =>
      listEntries(reader, request, {} as Parameters<typeof listEntries>[2]),
  }
}

const ARCHIVED = 10_000_000 - (10_000_000 % SEGMENT_BLOCK_ENTRIES)

describe('a page of a list with a filter that nothing matches', () => {
  test('[ARC-8] looks at a bounded part of the archive, and says where to go on', async () => {
    const log = createLog(ARCHIVED, ARCHIVED)
    const first = await log.list({ tipo: 'rare' })
    assert.deepEqual([first.eventos, first.next], [[], BLOCKS_MAX * SEGMENT_BLOCK_ENTRIES])
    const second = await log.list({ tipo: 'rare', after: first.next ?? 0 })
    assert.equal(second.next, 2 * BLOCKS_MAX * SEGMENT_BLOCK_ENTRIES)
    assert.equal(log.counts().blocks, 2 * BLOCKS_MAX)
  })

  test('[ARC-8] backwards too', async () => {
    const log = createLog(ARCHIVED, ARCHIVED)
    const first = await log.list({ tipo: 'rare', last: 10 })
    const place = ARCHIVED - BLOCKS_MAX * SEGMENT_BLOCK_ENTRIES + 1
    assert.deepEqual([first.eventos, first.before], [[], place])
    assert.notEqual(first.next, null)
    assert.equal((await log.list({ tipo: 'rare', last: 10, before: 1000 })).next, null)
  })

  test('[API-60] looks at a bounded part of what an index finds, and says where to go on', async () => {
    const log = createLog(100_000)
    const older = await log.list({ about: 'busy', tipo: 'rare', last: 10 })
    assert.deepEqual([older.eventos, older.before], [[], 100_001 - LOOKED_MAX])
    const newer = await log.list({ about: 'busy', tipo: 'rare', limit: 10 })
    assert.deepEqual([newer.eventos, newer.next, newer.before], [[], LOOKED_MAX, undefined])
    assert.equal(log.counts().looked, 2 * LOOKED_MAX)
  })
})
