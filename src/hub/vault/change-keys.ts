// A change of the keys that open a vault: the data key stays as it is and is wrapped again, with everything that config.json says
// about keys. docs/protocol.md KEY-1 to KEY-3.

import { timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../platform/secret.ts'
import { unwrapDataKey, wrapDataKey } from './data-key.ts'
import type { KeyChange, RecoverySlot } from './key-changes.ts'
import { replaceConfig } from './replace-config.ts'
import type { UnsealedVault } from './unseal-vault.ts'
import type { VaultConfig } from './vault-config.ts'
import { VaultError } from './vault-error.ts'

export interface KeysToBe {
  /** The passphrase from now on. */
  readonly passphrase: Secret<string>
  /** Those of now unless others are given. */
  readonly recovery?: readonly RecoverySlot[]
  readonly change: KeyChange
}

/** Of what opens the vault nothing changes yet; a passphrase costs as much to try as before. */
export async function planKeys(
  { vaultId, dataKey, config }: UnsealedVault,
  { passphrase, recovery = config.keys?.recovery ?? [], change }: KeysToBe,
): Promise<VaultConfig> {
  const generation = (config.keys?.generation ?? 0) + 1
  return wrapDataKey({
    vaultId,
    dataKey,
    passphrase,
    cost: config.keyDerivation,
    keys: { generation, change, recovery },
  })
}

/** Under the vault's lock. Throws VaultError; see replaceConfig for what is then on the disk. */
export async function putKeysInForce(
  { root, dataKey }: UnsealedVault,
  planned: VaultConfig,
  passphrase: Secret<string>,
): Promise<void> {
  await replaceConfig(root, planned, async (written) => {
    const opened = await unwrapDataKey(written, passphrase)
    if (timingSafeEqual(opened.reveal(), dataKey.reveal())) return
    throw new VaultError('vault_corrupt', 'the new config.json holds another key')
  })
}
