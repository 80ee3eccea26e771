// The small subtrees of the log's tree, which are not kept: made again of their entries, a block of 256 at a time, and remembered for a
// while. Of a hundred agents that ask for a proof within a minute nearly all ask about the same few blocks. docs/protocol.md CHN-20.

import {
  EMPTY_FRONTIER,
  growTree,
  HASH_BYTES,
  type NodeId,
  type TreeNode,
} from '../../audit/merkle-tree.ts'
import { hashRecord } from '../../audit/record.ts'
import { invariant, SvcError } from '../../platform/errors.ts'
import { KEPT_LEVEL_MIN } from '../domain/log-tree.ts'
import type { StoreReader } from '../store/store.ts'

const BLOCK_ENTRIES = 2 ** KEPT_LEVEL_MIN
/** Four megabytes. */
const BLOCKS_MAX = 256

interface Block {
  /** Entries that it was made of: what they fill never changes. */
  readonly entries: number
  /** Of each level one after the other, from the leaves up. */
  readonly hashes: Buffer
}

export class LogBlocks {
  /** The one that was used last comes last. */
  readonly #blocks = new Map<number, Block>()

  /** Their hashes, in the order of `ids`, all of which are full and smaller than a block. */
  async read(
    reader: Pick<StoreReader, 'listRecords'>,
    ids: readonly NodeId[],
  ): Promise<readonly Buffer[]> {
    const found = new Map<number, Block>()
    for (const number of new Set(ids.map(blockOf))) {
      const entries = Math.max(...ids.filter((id) => blockOf(id) === number).map(countEntries))
      const known = this.#blocks.get(number)
      const isEnough = known !== undefined && known.entries >= entries
      const block = isEnough ? known : await makeBlock(reader, number)
      if (block.entries < entries) {
        throw new SvcError(
          'log_tree_damaged',
          'entries that the audit log’s tree has are missing',
          {
            hint: 'restore the vault from a backup',
          },
        )
      }
      this.#remember(number, block)
      found.set(number, block)
    }
    return ids.map((id) => {
      const block = found.get(blockOf(id))
      invariant(block !== undefined, 'each block was read')
      const at = placeOf(id)
      return block.hashes.subarray(at, at + HASH_BYTES)
    })
  }

  #remember(number: number, block: Block): void {
    this.#blocks.delete(number)
    this.#blocks.set(number, block)
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > BLOCKS_MAX && oldest !== undefined) this.#blocks.delete(oldest)
  }
}

async function makeBlock(reader: Pick<StoreReader, 'listRecords'>, number: number): Promise<Block> {
  const records = await reader.listRecords(number * BLOCK_ENTRIES, BLOCK_ENTRIES)
  const { filled } = growTree(EMPTY_FRONTIER, records.map(hashRecord))
  const hashes = Buffer.alloc(2 * BLOCK_ENTRIES * HASH_BYTES)
  const isSmall = ({ level }: TreeNode): boolean => level < KEPT_LEVEL_MIN
  for (const node of filled.filter(isSmall)) node.hash.copy(hashes, placeOf(node))
  return { entries: records.length, hashes }
}

function blockOf({ level, index }: NodeId): number {
  return Math.floor((index * 2 ** level) / BLOCK_ENTRIES)
}

/** How many entries of its block there have to be for it to be full. */
function countEntries(id: NodeId): number {
  return (id.index + 1) * 2 ** id.level - blockOf(id) * BLOCK_ENTRIES
}

/** A level has half as many as the one below it. */
function placeOf({ level, index }: NodeId): number {
  const ofLevel = BLOCK_ENTRIES / 2 ** level
  return (2 * BLOCK_ENTRIES - 2 * ofLevel + (index % ofLevel)) * HASH_BYTES
}
