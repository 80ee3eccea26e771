// Another config.json in the place of the old one: written beside it, read back, opened, and only then renamed over it. At every
// instant the old one or the new one is there, whole. docs/protocol.md KEY-1.

import { rename } from 'node:fs/promises'
import { describeError, invariant, SvcError } from '../../platform/errors.ts'
import {
  readTextIfPresent,
  removeIfPresent,
  syncDirectory,
  writeNewFile,
} from '../../platform/files.ts'
import {
  CONFIG_BYTES_MAX,
  formatVaultConfig,
  parseVaultConfig,
  type VaultConfig,
} from './vault-config.ts'
import { VaultError } from './vault-error.ts'
import { vaultFiles } from './vault-files.ts'

const FILE_MODE = 0o600

/**
 * Under the vault's lock. `check` throws when what was written does not open the vault. Throws a VaultError `vault_unavailable` when
 * nothing has changed, and `vault_unsynced` when the new file is there and a power cut may still bring back the old one.
 */
export async function replaceConfig(
  root: string,
  config: VaultConfig,
  check: (written: VaultConfig) => Promise<void>,
): Promise<void> {
  const { config: path, nextConfig } = vaultFiles(root)
  try {
    // What a change that was killed left behind.
    await removeIfPresent(nextConfig)
    await writeNewFile(nextConfig, formatVaultConfig(config), FILE_MODE)
    await check(await readWritten(nextConfig))
    await syncDirectory(root)
    await rename(nextConfig, path)
  } catch (error) {
    await removeIfPresent(nextConfig).catch(() => undefined)
    if (error instanceof SvcError) throw error
    throw new VaultError('vault_unavailable', `cannot write ${nextConfig}; nothing has changed`, {
      cause: error,
    })
  }
  try {
    await syncDirectory(root)
  } catch (error) {
    throw new VaultError(
      'vault_unsynced',
      `${path} is replaced, but the disk does not confirm it: ${describeError(error)}`,
      {
        cause: error,
        hint: 'keep the old passphrase and the new one until svc unseal succeeds after a restart of this machine',
      },
    )
  }
}

async function readWritten(path: string): Promise<VaultConfig> {
  const text = await readTextIfPresent(path, CONFIG_BYTES_MAX)
  invariant(text !== undefined, 'a file that was written is there')
  return parseVaultConfig(text, path)
}
