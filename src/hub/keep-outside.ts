// What the hub keeps in SVC_CHECKPOINT_PATH: first the acts that a restore must not forget, then the checkpoints that cover them. So
// there is never a checkpoint for acts that are not there. docs/protocol.md BKP-15, CHN-17.

import { actsDirectory } from './acts-directory.ts'
import { checkpointFiles } from './checkpoint-files.ts'
import type { LogTree } from './domain/log-tree.ts'
import { createActKeeper } from './service/upkeep/act-keeper.ts'
import type { StoreReader } from './store/store.ts'

export function keepOutside(
  directory: string,
  vaultId: string,
  reader: StoreReader,
): (tree: LogTree) => Promise<void> {
  const acts = createActKeeper(reader, actsDirectory(directory, vaultId))
  const checkpoints = checkpointFiles(directory, vaultId)
  return async (tree) => {
    await acts.keep(tree)
    await checkpoints.write(tree)
  }
}
