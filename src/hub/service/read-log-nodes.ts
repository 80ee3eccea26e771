// Subtrees of the log's tree: the large ones are kept, the small ones made again of their entries.

import { EMPTY_FRONTIER, growTree, type NodeId, nodesOf, rootOf } from '../../audit/merkle-tree.ts'
import { hashRecord } from '../../audit/record.ts'
import { invariant } from '../../platform/errors.ts'
import { KEPT_LEVEL_MIN } from '../domain/log-tree.ts'
import type { StoreReader } from '../store/store.ts'

const BLOCK_ENTRIES = 2 ** KEPT_LEVEL_MIN

/** Their hashes, in the order of `ids`, all of which are full. A proof needs small ones of two blocks of entries at most. */
export async function readLogNodes(reader: StoreReader, ids: readonly NodeId[]): Promise<Buffer[]> {
  const kept = ids.filter(({ level }) => level >= KEPT_LEVEL_MIN)
  const hashes = new Map<string, Buffer>()
  for (const [at, hash] of (await reader.listLogNodes(kept)).entries()) {
    const id = kept[at]
    invariant(id !== undefined, 'as many hashes as subtrees')
    hashes.set(nameOf(id), hash)
  }
  for (const block of new Set(ids.filter((id) => !kept.includes(id)).map(blockOf))) {
    for (const [name, hash] of await makeBlock(reader, block)) hashes.set(name, hash)
  }
  return ids.map((id) => {
    const hash = hashes.get(nameOf(id))
    invariant(hash !== undefined, 'each subtree that is asked for is full')
    return hash
  })
}

/** What the root was when the log had `size` entries. */
export async function readRootAt(reader: StoreReader, size: number): Promise<Buffer> {
  return rootOf({ peaks: await readLogNodes(reader, nodesOf(0, size)) })
}

async function makeBlock(reader: StoreReader, block: number): Promise<ReadonlyMap<string, Buffer>> {
  const start = block * BLOCK_ENTRIES
  const records = await reader.listRecords(start, BLOCK_ENTRIES)
  const { filled } = growTree(EMPTY_FRONTIER, records.map(hashRecord))
  return new Map(
    filled.map(({ level, index, hash }) => [
      nameOf({ level, index: index + start / 2 ** level }),
      hash,
    ]),
  )
}

function blockOf({ level, index }: NodeId): number {
  return Math.floor((index * 2 ** level) / BLOCK_ENTRIES)
}

function nameOf({ level, index }: NodeId): string {
  return `${level}/${index}`
}
