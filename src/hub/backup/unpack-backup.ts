// A backup becomes the files of a vault again, in a directory that is nobody's vault yet. What is written was opened with
// the data key, frame by frame; whether it is a whole database with a whole log, open-unpacked.ts finds out.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { BackupError } from '../../backup/backup-error.ts'
import type { BackupHead } from '../../backup/backup-head.ts'
import { openBackup } from '../../backup/open-backup.ts'
import { syncDirectory, writeNewFile } from '../../platform/files.ts'
import type { Secret } from '../../platform/secret.ts'
import { openAuditHeadFile } from '../vault/audit-head.ts'
import type { UnsealedVault } from '../vault/unseal-vault.ts'
import { parseVaultConfig, type VaultConfig } from '../vault/vault-config.ts'
import { vaultFiles } from '../vault/vault-files.ts'

export interface UnpackOptions {
  readonly pieces: AsyncIterable<Uint8Array>
  /** For messages. */
  readonly name: string
  /** Empty. */
  readonly directory: string
  /** The kind and the newest version of what this program can read. */
  readonly readable: { readonly kind: string; readonly version: number }
  /** The data key, by the passphrase or a recovery key. Called when there is something to open. */
  readonly unwrap: (config: VaultConfig) => Promise<Secret<Buffer>>
  readonly onProgress?: ((bytes: number, all: number) => void) | undefined
}

export interface UnpackedBackup {
  readonly head: BackupHead
  readonly vault: UnsealedVault
}

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const MODE = 0o600

/** Throws BackupError, or VaultError `vault_wrong_passphrase` or `vault_wrong_recovery_key`. */
export async function unpackBackup(options: UnpackOptions): Promise<UnpackedBackup> {
  const { pieces, name, directory, onProgress } = options
  const { head, readContent } = await openBackup(pieces, name)
  refuseUnreadable(head, options)
  const config = parseVaultConfig(head.config, `config.json of ${name}`)
  const dataKey = await options.unwrap(config)
  const files = vaultFiles(directory)
  let written = 0
  const counted = async function* (): AsyncGenerator<Buffer, void> {
    for await (const piece of readContent(dataKey)) {
      written += piece.length
      onProgress?.(written, head.store.bytes)
      yield piece
    }
  }
  await writeStream(files.database, counted())
  await writeNewFile(files.config, head.config, MODE)
  const headFile = openAuditHeadFile(files.auditHead, dataKey)
  try {
    headFile.reset({ seq: head.log.entries, hash: head.log.hash })
  } finally {
    headFile.close()
  }
  await syncDirectory(directory)
  const { vaultId } = config
  const vault = { root: directory, vaultId, databasePath: files.database, dataKey, config }
  return { head, vault }
}

async function writeStream(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, CREATE_NEW, MODE)
  try {
    await file.writeFile(pieces)
    await file.sync()
  } finally {
    await file.close()
  }
}

function refuseUnreadable({ store, program }: BackupHead, options: UnpackOptions): void {
  const { name, readable } = options
  if (store.kind !== readable.kind) {
    throw new BackupError(
      'backup_newer',
      `${name} is of a store of the kind ${store.kind}, which this program does not know`,
      { hint: `use the version of the program that wrote it: ${program}` },
    )
  }
  if (store.version <= readable.version) return
  throw new BackupError(
    'backup_newer',
    `${name} has a database of format ${store.version}, this program knows formats up to ${readable.version}`,
    { hint: `use the newer version of the program: ${program} wrote it` },
  )
}
