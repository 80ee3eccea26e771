import { stat } from 'node:fs/promises'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import { readTextIfPresent } from '../../platform/files.ts'
import type { Secret } from '../../platform/secret.ts'
import { requireOwnMac, unwrapDataKey } from './data-key.ts'
import type { RecoverySlot } from './key-changes.ts'
import { openRecoverySlot } from './recovery-slots.ts'
import { CONFIG_BYTES_MAX, parseVaultConfig, type VaultConfig } from './vault-config.ts'
import { VaultError } from './vault-error.ts'
import { vaultFiles } from './vault-files.ts'
import { vaultMissing } from './vault-lock.ts'

/** An open vault: where its database is, and the key to it. */
export interface UnsealedVault {
  readonly root: string
  readonly vaultId: string
  readonly databasePath: string
  readonly dataKey: Secret<Buffer>
  readonly config: VaultConfig
}

/** Reads a vault's files and unwraps its data key; changes nothing. Throws VaultError. */
export async function unsealVault(
  root: string,
  passphrase: Secret<string>,
): Promise<UnsealedVault> {
  const config = await readVaultConfig(root)
  return openWith(root, config, await unwrapDataKey(config, passphrase))
}

/** The same without the passphrase, by a recovery key. Throws VaultError. */
export async function recoverVault(
  root: string,
  identity: Secret<string>,
): Promise<{ readonly vault: UnsealedVault; readonly slot: RecoverySlot }> {
  const config = await readVaultConfig(root)
  const { slot, dataKey } = await recoverDataKey(config, identity)
  return { vault: openWith(root, config, dataKey), slot }
}

/** Of the vault with that config.json. Throws VaultError. */
export async function recoverDataKey(
  config: VaultConfig,
  identity: Secret<string>,
): Promise<{ readonly dataKey: Secret<Buffer>; readonly slot: RecoverySlot }> {
  const { slot, dataKey } = await openRecoverySlot(config, identity)
  requireOwnMac(config, dataKey)
  return { slot, dataKey }
}

function openWith(root: string, config: VaultConfig, dataKey: Secret<Buffer>): UnsealedVault {
  return {
    root,
    vaultId: config.vaultId,
    databasePath: vaultFiles(root).database,
    dataKey,
    config,
  }
}

/** Of a vault that has its database too. */
async function readVaultConfig(root: string): Promise<VaultConfig> {
  const files = vaultFiles(root)
  const text = await readConfig(files.config)
  if (text === undefined) throw vaultMissing(root)
  const config = parseVaultConfig(text, files.config)
  await requireDatabase(files.database)
  return config
}

async function readConfig(path: string): Promise<string | undefined> {
  try {
    return await readTextIfPresent(path, CONFIG_BYTES_MAX)
  } catch (error) {
    if (error instanceof SvcError) {
      throw new VaultError('vault_corrupt', `${path} is damaged: ${error.message}`)
    }
    throw new VaultError('vault_unavailable', `cannot read ${path}`, { cause: error })
  }
}

async function requireDatabase(path: string): Promise<void> {
  try {
    await stat(path)
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') {
      throw new VaultError('vault_unavailable', `cannot read ${path}`, { cause: error })
    }
    throw new VaultError('vault_corrupt', `database missing: ${path}`, {
      hint: 'restore db.enc from a backup',
    })
  }
}
