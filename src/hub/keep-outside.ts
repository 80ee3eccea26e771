// What the hub keeps in SVC_CHECKPOINT_PATH, for a restore to read: first the acts that a restore must not forget, then the
// checkpoints that cover them. So there is never a checkpoint for acts that are not there. docs/protocol.md BKP-15, CHN-17.

import { actsDirectory, readActNotes } from './acts-directory.ts'
import type { KeptOutside } from './backup/restore-vault.ts'
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

/** All of it, as it stands there. Throws the system's error. */
export async function readKeptOutside(directory: string, vaultId: string): Promise<KeptOutside> {
  const files = checkpointFiles(directory, vaultId)
  return {
    checkpoints: (await files.read()).map(({ note }) => note),
    earlier: await files.readAside(),
    acts: await readActNotes(actsDirectory(directory, vaultId)),
  }
}
