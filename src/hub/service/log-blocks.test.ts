import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EMPTY_FRONTIER, growTree, nodesOf } from '../../audit/merkle-tree.ts'
import { hashRecord } from '../../audit/record.ts'
import { LogBlocks } from './log-blocks.ts'

describe('[CHN-20] the small subtrees of the log', () => {
  const all = Array.from({ length: 256 * 300 }, (_, at) => `record ${at}`)
  let size = all.length
  let read: number[] = []
  const reader = {
    listRecords: async (after: number, limit: number) => {
      read.push(after / 256)
      return all.slice(after, Math.min(size, after + limit))
    },
  }
  const read256 = (blocks: LogBlocks, start: number, end: number) =>
    blocks.read(reader, nodesOf(start, end))

  test('are those of the whole tree', async () => {
    const { filled } = growTree(EMPTY_FRONTIER, all.slice(0, 768).map(hashRecord))
    const small = filled.filter(({ level }) => level < 8)
    const hashes = await new LogBlocks().read(reader, small)
    assert.deepEqual(
      hashes.map((hash) => hash.toString('hex')),
      small.map(({ hash }) => hash.toString('hex')),
    )
  })

  test('are made once, until the log has filled another one that is asked for', async () => {
    const blocks = new LogBlocks()
    read = []
    size = 520
    await read256(blocks, 256, 300)
    await read256(blocks, 257, 511)
    await read256(blocks, 512, 519)
    size = 530
    await read256(blocks, 512, 520)
    assert.deepEqual(read, [1, 2])
    await read256(blocks, 512, 530)
    await read256(blocks, 512, 530)
    assert.deepEqual(read, [1, 2, 2])
    await assert.rejects(
      read256(blocks, 512, 531),
      /entries that the audit log’s tree has are missing/,
    )
  })

  test('of 256 blocks are remembered, those that were used last', async () => {
    const blocks = new LogBlocks()
    read = []
    size = all.length
    for (let block = 0; block < 257; block += 1) {
      await read256(blocks, block * 256, block * 256 + 3)
      await read256(blocks, 0, 7)
    }
    read = []
    await read256(blocks, 256 * 256, 256 * 256 + 3)
    await read256(blocks, 0, 7)
    await read256(blocks, 256, 259)
    assert.deepEqual(read, [1])
  })
})
