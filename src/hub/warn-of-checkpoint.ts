import type { Logger } from '../platform/logger.ts'
import type { CheckpointFiles } from './checkpoint-files.ts'
import type { StoreReader } from './store/store.ts'

/** A file that is gone, or a directory where nothing is mounted, must not turn the check off in silence. docs/protocol.md CHN-18. */
export async function warnIfHeldAgainstNothing(
  reader: StoreReader,
  checkpoints: CheckpointFiles | undefined,
  log: Logger,
): Promise<void> {
  if (checkpoints === undefined) return
  const kept = await checkpoints.read()
  if (kept.some(({ path }) => path === checkpoints.newest)) return
  const tree = await reader.findLogTree()
  if (tree === undefined) return
  const fields = { file: checkpoints.newest, entries: tree.frontier.size }
  log.warn(
    fields,
    'No checkpoint outside the vault to hold it against; is SVC_CHECKPOINT_PATH mounted?',
  )
}
