// A backup, opened and read from its first byte to its last, without a vault and without a hub: unpacked into a directory of
// its own, still encrypted, which goes again. docs/protocol.md BKP-7.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupHead } from '../../backup/backup-head.ts'
import { removeOnSignal } from '../../platform/remove-on-signal.ts'
import type { Store } from '../store/store.ts'
import type { UnsealedVault } from '../vault/vault.ts'
import { checkLog } from './check-log.ts'
import { unpackBackup, type UnpackOptions } from './unpack-backup.ts'

/** Opens the database of an unpacked backup; reads every page, and compares the log with its head. */
export type OpenUnpacked = (vault: UnsealedVault) => Promise<Store>

export interface VerifyOptions extends Omit<UnpackOptions, 'directory'> {
  /** With room for the database. */
  readonly scratch: string
  readonly open: OpenUnpacked
  readonly onChecked?: ((entries: number, all: number) => void) | undefined
}

/** Throws BackupError, VaultError or StoreError at the first thing that is not as it has to be. */
export async function verifyBackup(options: VerifyOptions): Promise<BackupHead> {
  const { scratch, open, name, onChecked } = options
  const directory = await mkdtemp(join(scratch, 'svc-verify-'))
  return removeOnSignal(directory, async () => {
    try {
      const { head, vault } = await unpackBackup({ ...options, directory })
      const store = await open(vault)
      try {
        await checkLog({ reader: store.reader, log: head.log, name, onProgress: onChecked })
      } finally {
        await store.close()
      }
      return head
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
}
