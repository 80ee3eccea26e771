// The directory in which the applier of targets keeps journal, old copies and reports. Old copies hold keys, and the
// applier does what the journal says: so the directory is the applier's alone, and one process at a time works in it.

import { chmod, lstat, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { type FileLock, tryLockFile } from '../../platform/file-lock.ts'
import { syncDirectory } from '../../platform/files.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'

/** What the environment says of targets. */
export interface TargetsConfig {
  readonly dataDir: string
  readonly targetsDir: string
  readonly targetsStateDir: string | undefined
}

const PRIVATE = 0o700

/**
 * Where the applier of targets keeps its journal. Root's journal is beside the data directory, since an agent that owns that
 * directory could put another in the place of anything in it.
 */
export function targetsStateDir(
  { dataDir, targetsStateDir: given }: Omit<TargetsConfig, 'targetsDir'>,
  userId: number,
): string {
  return given ?? (userId === 0 ? `${dataDir}-targets` : join(dataDir, 'targets-state'))
}

/** Throws a UserError when anyone else could have a hand in it. */
export async function prepareTargetsState(directory: string, uid: number): Promise<void> {
  const parent = dirname(directory)
  const trusted = await readTrustedDirectories(parent, uid)
  if (!trusted.ok) throw refused(directory, trusted.reason)
  try {
    await mkdir(directory, { mode: PRIVATE })
    await syncDirectory(parent)
  } catch (error) {
    if (errnoCode(error) !== 'EEXIST') throw error
  }
  const stats = await lstat(directory)
  if (!stats.isDirectory()) throw refused(directory, 'it is not a directory')
  if (stats.uid !== uid) throw refused(directory, `it belongs to user ${stats.uid}`)
  if ((stats.mode & 0o077) !== 0) await chmod(directory, PRIVATE)
}

/** Undefined while another pass is made. */
export function tryLockTargets(directory: string): FileLock | undefined {
  return tryLockFile(join(directory, 'lock'))
}

function refused(directory: string, why: string): UserError {
  return new UserError('targets_state', `${directory} cannot keep the state of targets: ${why}`, {
    hint: 'name another place with SVC_AGENT_TARGETS_STATE_DIR',
  })
}
