// Part of the wiring of svc: what it does with a backup. Neither needs a vault, and neither asks a hub.

import { tmpdir } from 'node:os'
import type { BackupHead } from '../../backup/backup-head.ts'
import { checkpointFiles } from '../../hub/checkpoint-files.ts'
import { readKeptOutside } from '../../hub/keep-outside.ts'
import { parseHubNaming } from '../../hub/config.ts'
import { restoreVault } from '../../hub/backup/restore-vault.ts'
import { verifyBackup } from '../../hub/backup/verify-backup.ts'
import { replayActs } from '../../hub/service/admin/replay-acts.ts'
import { openVaultStore } from '../../hub/open-store.ts'
import { SQLITE_COPY_KIND } from '../../hub/store/sqlite/database-copy.ts'
import { MIGRATIONS } from '../../hub/store/sqlite/migrations.ts'
import { unwrapDataKey } from '../../hub/vault/data-key.ts'
import type { VaultConfig } from '../../hub/vault/vault-config.ts'
import { recoverDataKey, type UnsealedVault } from '../../hub/vault/vault.ts'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import type { BackupVerification, RestoredVault } from './admin-session.ts'
import type { Secret } from '../../platform/secret.ts'
import { explainFailure } from './explain-failure.ts'
import { prepareToReadPassphrase, type Surroundings } from './open-vault.ts'
import { createPassphraseSource } from './passphrase.ts'

/** A backup that was opened with the operator's rights. */
export interface BackupSource {
  /** For messages. */
  readonly name: string
  readonly pieces: AsyncIterable<Uint8Array>
}

const READABLE = { kind: SQLITE_COPY_KIND, version: MIGRATIONS.length }
/** Large, and on a disk; what nobody removed goes by itself some day. */
const SCRATCH = '/var/tmp'

export async function verifyBackupFrom(
  surroundings: Surroundings,
  source: BackupSource,
  { scratch, recoveryIdentity }: BackupVerification,
): Promise<BackupHead> {
  const { env } = surroundings
  const directory = scratch ?? (env['TMPDIR'] ? tmpdir() : SCRATCH)
  try {
    return await verifyBackup({
      ...reading(surroundings, source, recoveryIdentity),
      scratch: directory,
    })
  } catch (error) {
    throw explainFailure(error, { root: directory, action: `unpack ${source.name}` })
  }
}

/** Started by root, svc is the owner of the directory from here on. */
export async function restoreVaultFrom(
  surroundings: Surroundings,
  source: BackupSource,
  recoveryIdentity: Secret<string> | undefined,
): Promise<RestoredVault> {
  const { vaultRoot: root, checkpointDirectory } = parseHubNaming(surroundings.env)
  const keptOf = (vaultId: string) =>
    checkpointDirectory === undefined ? undefined : checkpointFiles(checkpointDirectory, vaultId)
  const options = reading(surroundings, source, recoveryIdentity)
  if (surroundings.userId === 0) becomeOwnerOf(root)
  try {
    const restored = await restoreVault({
      ...options,
      root,
      readKept:
        checkpointDirectory === undefined
          ? undefined
          : (vaultId) => readKeptOutside(checkpointDirectory, vaultId),
      replay: replayActs,
    })
    // The log goes on in another epoch. Until the files are aside a hub refuses the vault, which is the safe side.
    await keptOf(restored.head.vaultId)?.setAside(surroundings.clock.now())
    return { path: root, ...restored }
  } catch (error) {
    throw explainFailure(error, { root, action: `restore a vault at ${root}` })
  }
}

function reading(
  surroundings: Surroundings,
  source: BackupSource,
  recoveryIdentity: Secret<string> | undefined,
) {
  const { env, userId, ask, clock, progress } = surroundings
  const passphrases = createPassphraseSource({ ...prepareToReadPassphrase(env, userId), ask })
  const show = (what: string) => (done: number, all: number) =>
    progress.show(`${what}: ${all === 0 ? 100 : Math.floor((done / all) * 100)} %`)
  return {
    ...source,
    clock,
    readable: READABLE,
    unwrap: async (config: VaultConfig) =>
      recoveryIdentity === undefined
        ? unwrapDataKey(config, await passphrases.read())
        : (await recoverDataKey(config, recoveryIdentity)).dataKey,
    open: (vault: UnsealedVault) =>
      openVaultStore(vault, { clock, checkPages: true, leavesJournal: true }),
    onProgress: show('unpacking'),
    onChecked: show('verifying the hash chain'),
  }
}
