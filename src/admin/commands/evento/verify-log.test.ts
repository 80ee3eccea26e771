import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { chainEntries } from '../../../audit/chain-entries.ts'
import { EMPTY_FRONTIER, growTree, nodesOf } from '../../../audit/merkle-tree.ts'
import { formatRecord, hashRecord, type RecordedEntry } from '../../../audit/record.ts'
import { formatVerifierKey } from '../../../audit/signed-note.ts'
import type { LogTree } from '../../../hub/domain/log-tree.ts'
import { growLogTree, logVerifier, newLogTree } from '../../../hub/service/log-tree.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { verifyLog } from './verify-log.ts'

const SILENT = { show: () => undefined, clear: () => undefined }
const COUNT = 12_001

function makeLog(count: number): RecordedEntry[] {
  return chainEntries(
    undefined,
    Array.from({ length: count }, (_, index) => ({
      id: `id-${index}`,
      agentId: index % 3 === 0 ? null : `agent-${index % 5}`,
      eventType: 'noted',
      deliveryId: index % 2 === 0 ? null : 'delivery',
      requestId: index % 7 === 0 ? null : `request-${index}`,
      payloadText: `{"n":${index}}`,
      at: new Date(index),
    })),
  )
}

const log = makeLog(COUNT)
const EMPTY = newLogTree('vault')
const treeOf = (entries: readonly RecordedEntry[]): LogTree =>
  growLogTree(EMPTY, entries.map(formatRecord)).tree

/** It has signed what it has, or what somebody says. */
function hubWith(
  entries: readonly RecordedEntry[],
  tree = treeOf(entries),
): { operations: AdminOperations; asked: number[] } {
  const asked: number[] = []
  const operations = {
    showCheckpoint: async () => ({
      checkpoint: tree.checkpoint,
      key: formatVerifierKey(logVerifier(tree)),
      entries: tree.frontier.size,
    }),
    listRecords: async ({ after: start = 0, limit = 0 }) => {
      asked.push(start)
      const registros = entries.slice(start, start + limit).map((entry) => formatRecord(entry))
      return { registros, next: start + limit < entries.length ? start + limit : null }
    },
    listSegments: async () => ({ segments: [], removed_until: 0, next: null }),
  }
  return { operations: operations as unknown as AdminOperations, asked }
}

describe('verifyLog', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'verify-'))
  })
  after(() => rm(directory, { recursive: true }))

  const keep = async ({ checkpoint }: LogTree): Promise<string> => {
    const path = join(directory, 'kept.checkpoint')
    await writeFile(path, checkpoint)
    return path
  }

  test('[API-30] [CLI-17] reads the log in pages, and finds what is wrong in any of them', async () => {
    const { operations, asked } = hubWith(log)
    const good = await verifyLog(operations, SILENT)
    assert.deepEqual(
      [good.ok, good.count, good.head, good.first_bad],
      [true, COUNT, log.at(-1)?.hash, null],
    )
    assert.deepEqual([good.checkpoint?.ok, good.checkpoint?.entries], [true, COUNT])
    assert.deepEqual(asked, [0, 5000, 10_000])
    const changed = log.with(11_999, { ...log[11_999]!, payloadText: '{"n":0}' })
    const bad = await verifyLog(hubWith(changed).operations, SILENT)
    assert.deepEqual(
      [bad.ok, bad.count, bad.head, bad.first_bad?.seq],
      [false, COUNT, log[11_998]?.hash, 12_000],
    )
  })

  test('[CHN-16] names a log that is not the one that was signed', async () => {
    const small = log.slice(0, 1000)
    const signed = treeOf(small)
    const other = small.with(500, { ...small[500]!, eventType: 'another' })
    const changed = await verifyLog(hubWith(other, signed).operations, SILENT)
    assert.deepEqual(
      [changed.ok, changed.first_bad, changed.checkpoint?.reason],
      [false, null, 'the first 1000 entries are not those that a checkpoint was signed for'],
    )
    const short = await verifyLog(hubWith(small.slice(0, 900), signed).operations, SILENT)
    assert.equal(
      short.checkpoint?.reason,
      'a checkpoint was signed for 1000 entries, and the log has 900',
    )
    // Entries that are not signed yet are in the chain alone.
    const { ok, count } = await verifyLog(hubWith(log.slice(0, 1100), signed).operations, SILENT)
    assert.deepEqual([ok, count], [true, 1100])
  })

  test('[CHN-16] holds the log against a checkpoint that somebody kept, whatever was signed since', async () => {
    const kept = { path: await keep(treeOf(log.slice(0, 700))), key: undefined }
    const honest = await verifyLog(hubWith(log.slice(0, 1000)).operations, SILENT, kept)
    assert.equal(honest.ok, true)
    // Whoever holds the vault and all its keys makes every hash again.
    const forged = makeLog(1000).with(3, { ...log[3]!, requestId: 'another' })
    const { ok, checkpoint } = await verifyLog(hubWith(forged).operations, SILENT, kept)
    assert.deepEqual(
      [ok, checkpoint?.reason],
      [false, 'the first 700 entries are not those that a checkpoint was signed for'],
    )
    const truncated = await verifyLog(hubWith(log.slice(0, 600)).operations, SILENT, kept)
    assert.equal(
      truncated.checkpoint?.reason,
      'a checkpoint was signed for 700 entries, and the log has 600',
    )
  })

  test('takes no checkpoint that another key has signed', async () => {
    const { operations } = hubWith(log.slice(0, 10))
    const other = formatVerifierKey(logVerifier(newLogTree('vault')))
    await assert.rejects(verifyLog(operations, SILENT, { path: undefined, key: other }), {
      code: 'checkpoint_invalid',
    })
    const foreign = await keep(newLogTree('vault'))
    await assert.rejects(verifyLog(operations, SILENT, { path: foreign, key: undefined }), {
      code: 'checkpoint_invalid',
    })
  })

  test('[API-30] [VER-8] reads whole entries of a hub that knows no records, and has signed nothing', async () => {
    const unknown = async () => {
      throw new UserError('route_not_found', 'this hub has no operation')
    }
    const operations = {
      listRecords: unknown,
      listSegments: unknown,
      showCheckpoint: unknown,
      listEntries: async ({ after: start = 0, limit = 0 }) => ({
        eventos: log.slice(start, start + limit).map((entry) => ({
          seq: entry.seq,
          id: entry.id,
          agente_id: entry.agentId,
          tipo_evento: entry.eventType,
          entrega_id: entry.deliveryId,
          request_id: entry.requestId,
          payload_text: entry.payloadText,
          timestamp: entry.timestamp,
          hash_anterior: entry.previousHash,
          hash_atual: entry.hash,
        })),
      }),
    } as unknown as AdminOperations
    const { ok, count, checkpoint } = await verifyLog(operations, SILENT)
    assert.deepEqual({ ok, count, checkpoint }, { ok: true, count: COUNT, checkpoint: null })
    await assert.rejects(verifyLog(operations, SILENT, { path: undefined, key: 'k' }), {
      code: 'checkpoint_missing',
    })
  })

  test('[CLI-141] goes on behind segments that are missing, and still finds what is wrong behind them', async () => {
    const { frontier } = treeOf(log)
    const { filled } = growTree(
      EMPTY_FRONTIER,
      log.map((entry) => hashRecord(formatRecord(entry))),
    )
    const segment = (first: number, last: number) => ({
      file: `${last}`,
      first,
      last,
      state: 'missing',
      hash_atual: log[last - 1]?.hash,
      tree: nodesOf(first - 1, last).map(({ level, index }) =>
        filled
          .find((node) => node.level === level && node.index === index)
          ?.hash.toString('base64'),
      ),
    })
    const gaps = [segment(1, 256), segment(257, 512), segment(1025, 1280)]
    const verifyWith = (entries: readonly RecordedEntry[], segments: readonly object[]) => {
      const { operations } = hubWith(entries, treeOf(log))
      const listSegments = async () => ({ segments, removed_until: 1280, next: null })
      return verifyLog({ ...operations, listSegments } as unknown as AdminOperations, SILENT)
    }
    const good = await verifyWith(log, gaps)
    assert.partialDeepStrictEqual(good, { ok: true, count: COUNT, head: log.at(-1)?.hash })
    assert.deepEqual(
      good.missing?.map(({ first, last }) => [first, last]),
      [
        [1, 256],
        [257, 512],
        [1025, 1280],
      ],
    )
    assert.equal(good.checkpoint?.entries, frontier.size)
    for (const at of [512, 700, 1280, COUNT - 1]) {
      const entries = log.map((entry, index) =>
        index === at ? { ...entry, eventType: 'x' } : entry,
      )
      assert.equal((await verifyWith(entries, gaps)).ok, false, `${at}`)
      const unchained = log.map((entry, index) =>
        index === at ? { ...entry, previousHash: '0'.repeat(64) } : entry,
      )
      assert.equal((await verifyWith(unchained, gaps)).first_bad?.seq, at + 1)
    }
    const lying = [{ ...segment(1, 256), tree: segment(257, 512).tree }, ...gaps.slice(1)]
    assert.equal((await verifyWith(log, lying)).ok, false)
  })

  test('a page that cannot be read is no end of the log', async () => {
    const { operations } = hubWith(log)
    const failing = {
      ...operations,
      listRecords: async (request: { after?: number; limit?: number }) => {
        if (request.after === 5000) throw new UserError('route_not_found', 'gone')
        return operations.listRecords(request)
      },
    }
    await assert.rejects(verifyLog(failing, SILENT), { code: 'route_not_found' })
  })
})
