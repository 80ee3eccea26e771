import { exists } from '../../platform/files.ts'
import type { UnsealedVault } from '../vault/vault.ts'
import { VaultError } from '../vault/vault-error.ts'

/** A close that cannot copy the log into the file fails silently, and only the file is moved. */
export async function requireNoWriteAheadLog({ root, databasePath }: UnsealedVault): Promise<void> {
  if (!(await exists(`${databasePath}-wal`))) return
  throw new VaultError('vault_unavailable', 'the database could not be written whole', {
    hint: `check the free space of ${root}`,
  })
}
