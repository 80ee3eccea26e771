import { statSync } from 'node:fs'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import { type FileLock, tryLockFile } from '../../platform/file-lock.ts'
import { VaultError } from './vault-error.ts'
import { vaultFiles } from './vault-files.ts'

export type VaultLock = FileLock

/** Keeps other processes out of a vault until it is released or this process ends. */
export function lockVault(root: string): VaultLock {
  const files = vaultFiles(root)
  requireVault(root, files.config)
  return takeLock(files.lock)
}

export function takeLock(path: string): VaultLock {
  const lock = tryLock(path)
  if (lock !== undefined) return lock
  throw new VaultError('vault_locked', 'vault already locked: Resource temporarily unavailable', {
    hint: 'another process, probably a running hub, has this vault open',
  })
}

export function vaultMissing(root: string): VaultError {
  const { config, rekeyedConfig } = vaultFiles(root)
  if (statSync(rekeyedConfig, { throwIfNoEntry: false }) !== undefined) {
    return new VaultError(
      'vault_missing',
      `the vault at ${root} was made again under another key`,
      {
        hint: `put the new vault in its place; two logs go on from one when you go on with this one: mv ${rekeyedConfig} ${config}`,
      },
    )
  }
  return new VaultError('vault_missing', `no vault at ${root} — run svc init first`, {
    hint: 'SVC_VAULT_ROOT says where the vault is',
  })
}

function tryLock(path: string): FileLock | undefined {
  try {
    return tryLockFile(path, 0o600)
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new VaultError('vault_unavailable', `cannot lock ${path}`, { cause: error })
  }
}

function requireVault(root: string, configPath: string): void {
  try {
    statSync(configPath)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') throw vaultMissing(root)
    throw new VaultError('vault_unavailable', `cannot read ${configPath}`, { cause: error })
  }
}
