// Subtrees of the log's tree: the large ones are kept, the small ones made again of their entries.

import { type NodeId, nodesOf, rootOf } from '../../audit/merkle-tree.ts'
import { invariant } from '../../platform/errors.ts'
import { KEPT_LEVEL_MIN } from '../domain/log-tree.ts'
import type { StoreReader } from '../store/store.ts'
import { LogBlocks } from './log-blocks.ts'

/**
 * Their hashes, in the order of `ids`, all of which are full. A proof needs small ones of two blocks of entries at most; `blocks`
 * remembers them from one call to the next.
 */
export async function readLogNodes(
  reader: StoreReader,
  ids: readonly NodeId[],
  blocks: LogBlocks = new LogBlocks(),
): Promise<Buffer[]> {
  const isKept = ({ level }: NodeId): boolean => level >= KEPT_LEVEL_MIN
  const kept = (await reader.listLogNodes(ids.filter(isKept))).values()
  const small = (
    await blocks.read(
      reader,
      ids.filter((id) => !isKept(id)),
    )
  ).values()
  return ids.map((id) => {
    const hash = (isKept(id) ? kept : small).next().value
    invariant(hash !== undefined, 'as many hashes as subtrees')
    return hash
  })
}

/** What the root was when the log had `size` entries. */
export async function readRootAt(reader: StoreReader, size: number): Promise<Buffer> {
  return rootOf({ peaks: await readLogNodes(reader, nodesOf(0, size)) })
}
