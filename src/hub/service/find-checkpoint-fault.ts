import type { LogTree } from '../domain/log-tree.ts'
import { openCheckpoint } from './log-tree.ts'
import type { StoreReader } from '../store/store.ts'
import { readRootAt } from './read-log-nodes.ts'

/** Why the log of this vault is not the one, or no longer all of the one, that a note was signed for; undefined when it is. */
export async function findCheckpointFault(
  reader: StoreReader,
  tree: LogTree | undefined,
  note: string,
): Promise<string | undefined> {
  if (tree === undefined) return 'the vault is older than any checkpoint'
  const seen = openCheckpoint(tree, note)
  if (seen === undefined) return 'the checkpoint is of another log, or not signed by this vault'
  const { size } = tree.frontier
  if (size < seen.size) {
    return `the checkpoint was signed for ${seen.size} entries, and the vault has ${size} of them`
  }
  const root = await readRootAt(reader, seen.size)
  return root.equals(seen.root)
    ? undefined
    : `the first ${seen.size} entries are not those that the checkpoint was signed for`
}
