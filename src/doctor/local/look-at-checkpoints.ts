// The directory of SVC_CHECKPOINT_PATH, which may be on a machine that is gone. Nothing is written. docs/protocol.md DOC-25.

import { accessSync, constants, statSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import type { CheckpointDirectoryFacts } from '../scene.ts'
import { runBounded } from './bounded-child.ts'

const TOUCH_MS_MAX = 2500
const { R_OK, W_OK, X_OK } = constants

/** As the owner of the vault, where svc can be that. */
export async function lookAtCheckpointDirectory(
  path: string,
  vaultRoot: string,
): Promise<CheckpointDirectoryFacts> {
  const { status } = await runBounded('stat', ['-L', '--', path], TOUCH_MS_MAX)
  const broken = (failure: string) => ({ path, failure, isBesideVault: false })
  if (status === undefined) return broken('its file system does not answer')
  try {
    accessSync(path, R_OK | W_OK | X_OK)
  } catch (error) {
    const { errno } = error as { readonly errno?: number }
    if (errno === undefined) throw error
    return broken(getSystemErrorMessage(errno))
  }
  const vault = statSync(vaultRoot, { throwIfNoEntry: false })
  return { path, failure: undefined, isBesideVault: statSync(path).dev === vault?.dev }
}
