// A vault comes into being with the rename of config.json. Everything before happens in a staging directory, so that
// whatever stops `svc init` or `svc restore` leaves either no vault, and either can be run again, or a whole one.

import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errnoCode, SvcError, UserError } from '../../platform/errors.ts'
import { exists, syncDirectory, writeNewFile } from '../../platform/files.ts'
import type { Secret } from '../../platform/secret.ts'
import { createDatabase } from '../store/sqlite/encrypted-database.ts'
import { createDataKey } from './data-key.ts'
import { KEY_DERIVATION_COST } from './key-derivation.ts'
import type { UnsealedVault } from './unseal-vault.ts'
import { formatVaultConfig } from './vault-config.ts'
import { VaultError } from './vault-error.ts'
import { vaultFiles, type VaultFiles } from './vault-files.ts'
import { takeLock } from './vault-lock.ts'

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

/** Creates a vault; one that exists is never touched. Only tests ask for another cost of trying a passphrase. */
export async function initVault(
  root: string,
  passphrase: Secret<string>,
  cost = KEY_DERIVATION_COST,
): Promise<UnsealedVault> {
  if (passphrase.reveal() === '') {
    throw new UserError('passphrase_empty', 'the passphrase is empty', {
      hint: 'SVC_MASTER_PASSPHRASE holds it, or the file that SVC_MASTER_PASSPHRASE_FILE names',
    })
  }
  return makeVault(root, async (files) => {
    const { config, dataKey } = await createDataKey(passphrase, cost)
    await createDatabase(files.stagedDatabase, dataKey)
    await writeNewFile(files.stagedConfig, formatVaultConfig(config), FILE_MODE)
    return { root, vaultId: config.vaultId, databasePath: files.database, dataKey, config }
  })
}

/** `fill` leaves a whole vault in the staging directory, synced; a vault that exists is never touched. */
export async function makeVault<T>(
  root: string,
  fill: (files: VaultFiles) => Promise<T>,
): Promise<T> {
  try {
    return await makeLocked(root, fill)
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new VaultError('vault_unavailable', `cannot create a vault at ${root}`, { cause: error })
  }
}

async function makeLocked<T>(root: string, fill: (files: VaultFiles) => Promise<T>): Promise<T> {
  const files = vaultFiles(root)
  await refuseExistingVault(root, files)
  await prepareDirectory(root, files)
  const lock = takeLock(files.lock)
  try {
    await refuseExistingVault(root, files)
    await removeLeftovers(files)
    await mkdir(files.staging, { mode: DIRECTORY_MODE })
    const made = await fill(files)
    await moveIntoPlace(root, files)
    return made
  } finally {
    lock.release()
  }
}

async function refuseExistingVault(root: string, files: VaultFiles): Promise<void> {
  if (await exists(files.config)) {
    throw new UserError('vault_exists', `vault already initialised at ${root}`)
  }
  if ((await exists(files.database)) && !(await exists(files.stagedConfig))) {
    throw new VaultError('vault_corrupt', `${files.database} exists without its config.json`, {
      hint: 'restore config.json from a backup, or choose another directory',
    })
  }
}

/** With the directories above it, one at a time: Node's own recursion never ends where a parent cannot be made (/proc). */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return
    if (errnoCode(error) !== 'ENOENT' || (await exists(dirname(path)))) throw error
    await makeDirectory(dirname(path))
    await mkdir(path, { mode: DIRECTORY_MODE })
  }
}

/** A directory with other people's files in it is not closed to them without being asked. */
async function prepareDirectory(root: string, files: VaultFiles): Promise<void> {
  await makeDirectory(root)
  const { mode } = await stat(root)
  if ((mode & 0o777) === DIRECTORY_MODE) return
  const ours = new Set(Object.values(files).map((path) => basename(path)))
  const foreign = (await readdir(root)).filter((name) => !ours.has(name))
  if (foreign.length > 0) {
    throw new UserError(
      'directory_in_use',
      `${root} has other files in it, and other users can open it`,
      {
        hint: `choose an empty directory, or close it first: chmod 700 ${root}`,
      },
    )
  }
  await chmod(root, DIRECTORY_MODE)
}

/**
 * Removes what an interrupted init left. The database belongs to it only while its config is still staged, so the config
 * goes last.
 */
async function removeLeftovers(files: VaultFiles): Promise<void> {
  if (await exists(files.stagedConfig)) {
    await rm(files.database, { force: true })
    await rm(files.auditHead, { force: true })
  }
  await rm(files.stagedConfig, { force: true })
  await rm(files.staging, { recursive: true, force: true })
}

async function moveIntoPlace(root: string, files: VaultFiles): Promise<void> {
  await syncDirectory(files.staging)
  await syncDirectory(root)
  // Between these renames the staged config tells that the others are leftovers.
  await rename(files.stagedDatabase, files.database)
  // A new vault has none before its first entry.
  if (await exists(files.stagedAuditHead)) await rename(files.stagedAuditHead, files.auditHead)
  await syncDirectory(root)
  await rename(files.stagedConfig, files.config)
  await syncDirectory(root)
  await rm(files.staging, { recursive: true, force: true })
  await syncDirectory(dirname(root))
}
