// The directory of SVC_CHECKPOINT_PATH or SVC_BACKUP_DIR, which may be on a machine that is gone, and the backups in it. Nothing is
// written. docs/protocol.md DOC-25, DOC-26.

import { accessSync, constants, statSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { listKeptBackups } from '../../hub/backup/kept-backups.ts'
import { CONFIG_BYTES_MAX, parseVaultConfig } from '../../hub/vault/vault-config.ts'
import { vaultFiles } from '../../hub/vault/vault-files.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import type { BackupDirectoryFacts, DirectoryFacts } from '../scene.ts'
import { runBounded } from './bounded-child.ts'

const TOUCH_MS_MAX = 2500
const { R_OK, W_OK, X_OK } = constants

/** As the owner of the vault, where svc can be that. */
export async function lookAtDirectory(path: string, vaultRoot: string): Promise<DirectoryFacts> {
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

/** Of this vault; its id needs no passphrase. */
export async function lookAtBackups(
  { directory: path, intervalMs }: { readonly directory: string; readonly intervalMs: number },
  vaultRoot: string,
  now: Date,
): Promise<BackupDirectoryFacts> {
  const directory = await lookAtDirectory(path, vaultRoot)
  if (directory.failure !== undefined) return { ...directory, lastAt: undefined }
  const { config } = vaultFiles(vaultRoot)
  const { vaultId } = parseVaultConfig(readSmallFile(config, CONFIG_BYTES_MAX).text, config)
  const until = new Date(now.getTime() + intervalMs)
  const kept = await listKeptBackups(path, { vaultId, dataKey: undefined }, until)
  return { ...directory, lastAt: kept.at(-1)?.at }
}
