// What the hub keeps in SVC_CHECKPOINT_PATH: first the acts that a restore must not forget, then the checkpoint that covers them. So
// there is never a checkpoint for acts that are not there. docs/protocol.md BKP-15, CHN-17.

import { actsDirectory } from './acts-directory.ts'
import { checkpointFile } from './checkpoint-file.ts'
import type { LogTree } from './domain/log-tree.ts'
import { createActKeeper } from './service/upkeep/act-keeper.ts'
import type { StoreReader } from './store/store.ts'

export function keepOutside(
  directory: string,
  vaultId: string,
  reader: StoreReader,
): (tree: LogTree) => Promise<void> {
  const acts = createActKeeper(reader, actsDirectory(directory, vaultId))
  const checkpoint = checkpointFile(directory, vaultId)
  return async (tree) => {
    await acts.keep(tree)
    await checkpoint.write(tree)
  }
}
