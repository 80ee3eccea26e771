import { setImmediate as nextTurn } from 'node:timers/promises'
import { BLOCK_ENTRIES, type BlockPlan, planBlock } from '../../../audit/block-proofs.ts'
import { carryOutPlan } from '../../../audit/merkle-proofs.ts'
import type { NodeId } from '../../../audit/merkle-tree.ts'
import { invariant } from '../../../platform/errors.ts'
import { KEPT_LEVEL_MIN } from '../../domain/log-tree.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { readLogNodes } from '../read-log-nodes.ts'
import { showCheckpoint } from './show-checkpoint.ts'

/** Blocks that are made again of the same entries. */
const BLOCKS_TOGETHER = 2 ** KEPT_LEVEL_MIN / BLOCK_ENTRIES

/** A turn for everybody else after each two blocks of 256 entries at most. docs/protocol.md API-95. */
export const showBlockProofs: Read<'showBlockProofs'> = async (
  reader,
  { entries, blocks: wanted },
  context,
) => {
  const { entries: signed } = await showCheckpoint(reader, {}, context)
  if (entries > signed) {
    throw new AdminRefusal('request_invalid', `the newest checkpoint is of ${signed} entries`)
  }
  const beyond = wanted.find((block) => block * BLOCK_ENTRIES >= entries)
  if (beyond !== undefined) {
    throw new AdminRefusal('request_invalid', `block ${beyond} is not in a log of ${entries}`)
  }
  const blocks: { leaves: string[]; proof: string[] }[] = []
  for (let from = 0; from < wanted.length;) {
    const together = takeTogether(wanted, from)
    blocks.push(...(await proveTogether(reader, together, entries)))
    from += together.length
    await nextTurn()
  }
  return { blocks }
}

/** Full subtrees never change: a log that grows meanwhile leaves those of this checkpoint as they are. */
async function proveTogether(reader: StoreReader, blocks: readonly number[], entries: number) {
  const plans = blocks.map((block) => planBlock(block, entries))
  const ids = new Map(plans.flatMap(idsOf).map((id) => [nameOf(id), id]))
  const hashes = await readLogNodes(reader, [...ids.values()])
  const known = new Map([...ids.keys()].map((name, at) => [name, hashes[at]]))
  const find = (id: NodeId): Buffer => {
    const hash = known.get(nameOf(id))
    invariant(hash !== undefined, 'each subtree of a plan is read')
    return hash
  }
  return plans.map(({ leaves, proof }) => ({
    leaves: toBase64(leaves.map(find)),
    proof: toBase64(carryOutPlan(proof, proof.flat().map(find))),
  }))
}

function takeTogether(blocks: readonly number[], from: number): readonly number[] {
  const groupOf = (block = -1): number => Math.floor(block / BLOCKS_TOGETHER)
  let end = from
  while (end < blocks.length && groupOf(blocks[end]) === groupOf(blocks[from])) end += 1
  return blocks.slice(from, end)
}

function idsOf({ leaves, proof }: BlockPlan): NodeId[] {
  return [...leaves, ...proof.flat()]
}

function nameOf({ level, index }: NodeId): string {
  return `${level}/${index}`
}

function toBase64(hashes: readonly Buffer[]): string[] {
  return hashes.map((hash) => hash.toString('base64'))
}
