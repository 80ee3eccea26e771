import { setImmediate as nextTurn } from 'node:timers/promises'
import { nodesOf } from '../../../audit/merkle-tree.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { readLogNodes } from '../read-log-nodes.ts'
import type { StoreReader } from '../../store/store.ts'
import { showCheckpoint } from './show-checkpoint.ts'

/** Some hashes for each power of two in the log, and three blocks of entries at most. docs/protocol.md API-80. */
export const showRangeProof: Read<'showRangeProof'> = async (
  reader,
  { after = 0, before },
  context,
) => {
  // Full subtrees never change: a log that grows meanwhile leaves those of this checkpoint as they are.
  const { checkpoint, key, entries } = await showCheckpoint(reader, {}, context)
  const until = Math.min(entries, before === undefined ? entries : before - 1)
  if (after > until) {
    const what = `no entry lies after ${after} and before ${before ?? entries + 1}`
    throw new AdminRefusal('request_invalid', `${what}; the checkpoint is of ${entries} entries`)
  }
  const left = await readHashes(reader, 0, after)
  await nextTurn()
  const right = await readHashes(reader, until, entries)
  return { checkpoint, key, entries, after, until, left, right }
}

async function readHashes(reader: StoreReader, start: number, end: number): Promise<string[]> {
  const hashes = await readLogNodes(reader, nodesOf(start, end))
  return hashes.map((hash) => hash.toString('base64'))
}
