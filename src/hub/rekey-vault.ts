// A copy of a vault under another data key: everything that the old key encrypts or authenticates is made again under the new one, in
// another directory. The vault itself stays as it is, but for the name of its config.json. docs/protocol.md KEY-8.

import { randomBytes } from 'node:crypto'
import { chmod, copyFile, rename, rm } from 'node:fs/promises'
import type { Clock } from '../platform/clock.ts'
import { invariant, SvcError } from '../platform/errors.ts'
import { syncDirectory, syncFile, writeNewFile } from '../platform/files.ts'
import { Secret } from '../platform/secret.ts'
import { checkLog } from './backup/check-log.ts'
import { refuseUsed } from './backup/restore-vault.ts'
import { requireNoWriteAheadLog } from './backup/require-no-write-ahead-log.ts'
import { openVaultStore } from './open-store.ts'
import { reencryptDatabase } from './store/sqlite/encrypted-database.ts'
import { openAuditHeadFile } from './vault/audit-head.ts'
import { planKeys } from './vault/change-keys.ts'
import { unwrapDataKey } from './vault/data-key.ts'
import type { KeyChange } from './vault/key-changes.ts'
import { KEY_BYTES } from './vault/key-derivation.ts'
import { sealDataKey } from './vault/recovery-slots.ts'
import { formatVaultConfig, type VaultConfig } from './vault/vault-config.ts'
import { type VaultFiles, vaultFiles } from './vault/vault-files.ts'
import { makeVault, type UnsealedVault } from './vault/vault.ts'

export interface RekeyOptions {
  /** The directory of the new vault: missing, or empty. */
  readonly to: string
  readonly passphrase: Secret<string>
  readonly change: KeyChange
  readonly clock: Clock
  readonly checkpointDirectory: string | undefined
  readonly onProgress: (what: string) => void
}

const MODE = 0o600

/** Under the vault's lock, and with its store closed. Whatever stops it leaves no new vault, or a whole one. */
export async function rekeyVault(vault: UnsealedVault, options: RekeyOptions): Promise<void> {
  await refuseUsed(options.to)
  await requireNoWriteAheadLog(vault)
  const dataKey = new Secret(randomBytes(KEY_BYTES))
  const config = await planNewKeys(vault, dataKey, options)
  await makeVault(options.to, async ({ staging }) => {
    const files = vaultFiles(staging)
    const { vaultId } = vault
    const made = { root: staging, vaultId, databasePath: files.database, dataKey, config }
    try {
      await fill(vault, made, files, options)
      await check(made, options)
    } catch (error) {
      // On a full disk, what there is of it is in the way of everything else.
      await rm(staging, { recursive: true, force: true })
      throw explain(error, options.to)
    }
  })
  await setAside(vault, options.to)
}

/** A hub that starts with either signs checkpoints under the same name, so only one of both may be a vault. */
async function setAside({ root }: UnsealedVault, to: string): Promise<void> {
  const { config, rekeyedConfig } = vaultFiles(root)
  try {
    await rename(config, rekeyedConfig)
    await syncDirectory(root)
  } catch (error) {
    throw new SvcError(
      'vault_not_aside',
      `the new vault at ${to} is whole, and ${config} is still there`,
      {
        cause: error,
        hint: `rename it to ${rekeyedConfig}, and put the new vault in the place of the old one`,
      },
    )
  }
}

function explain(error: unknown, to: string): unknown {
  if (!(error instanceof SvcError) || error.hint !== undefined) return error
  return new SvcError(error.code, error.message, {
    cause: error,
    hint: `check the owner, the mode and the free space of ${to}; the vault itself is as it was`,
  })
}

async function planNewKeys(
  vault: UnsealedVault,
  dataKey: Secret<Buffer>,
  { passphrase, change }: RekeyOptions,
): Promise<VaultConfig> {
  const slots = vault.config.keys?.recovery ?? []
  const recovery = []
  for (const slot of slots) {
    recovery.push({ ...slot, sealed: await sealDataKey(vault.vaultId, dataKey, slot.recipient) })
  }
  return planKeys({ ...vault, dataKey }, { passphrase, recovery, change })
}

async function fill(
  old: UnsealedVault,
  made: UnsealedVault,
  files: VaultFiles,
  { onProgress }: RekeyOptions,
): Promise<void> {
  onProgress('copying the database')
  await copyFile(old.databasePath, files.database)
  await chmod(files.database, MODE)
  onProgress('encrypting the copy under the new key')
  reencryptDatabase(files.database, old.dataKey, made.dataKey)
  await syncFile(files.database)
  await writeNewFile(files.config, formatVaultConfig(made.config), MODE)
  const before = openAuditHeadFile(vaultFiles(old.root).auditHead, old.dataKey)
  const after = openAuditHeadFile(files.auditHead, made.dataKey)
  try {
    const head = before.read()
    if (head !== undefined) after.reset(head)
  } finally {
    before.close()
    after.close()
  }
  await syncDirectory(made.root)
}

/** Opens it as a start does, reads every page and the whole log, and lets the log say what happened. */
async function check(
  made: UnsealedVault,
  { to, passphrase, clock, checkpointDirectory, onProgress }: RekeyOptions,
): Promise<void> {
  const opened = await unwrapDataKey(made.config, passphrase)
  invariant(opened.reveal().equals(made.dataKey.reveal()), 'the new config.json has the new key')
  onProgress('reading every page of the new vault')
  const store = await openVaultStore(made, { clock, checkpointDirectory, checkPages: true })
  try {
    const end = await store.reader.findChainEnd()
    const tree = await store.reader.findLogTree()
    invariant(end !== undefined, 'the log has the entry of the new key')
    await checkLog({
      reader: store.reader,
      log: {
        entries: end.seq,
        hash: end.hash,
        timestamp: end.timestamp,
        checkpoint: tree?.checkpoint ?? null,
      },
      name: to,
      onProgress: (entries, all) => onProgress(`verifying the log: ${entries} of ${all} entries`),
    })
  } finally {
    await store.close()
  }
  await requireNoWriteAheadLog(made)
}
