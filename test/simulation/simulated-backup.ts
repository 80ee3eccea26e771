// Backups of a simulated hub, which a restore makes a vault of again; and what an operator with the keys of the vault can do in between.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { applyMutation } from '../../reliability/support/log-mutations/mutations.ts'
import { createBackupMaker } from '../../src/hub/backup/make-backup.ts'
import { type RestoredBackup, restoreVault } from '../../src/hub/backup/restore-vault.ts'
import { unpackBackup } from '../../src/hub/backup/unpack-backup.ts'
import { checkpointFiles } from '../../src/hub/checkpoint-files.ts'
import { readKeptOutside } from '../../src/hub/keep-outside.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import { replayActs } from '../../src/hub/service/admin/replay-acts.ts'
import { SQLITE_COPY_KIND } from '../../src/hub/store/sqlite/database-copy.ts'
import { MIGRATIONS } from '../../src/hub/store/sqlite/migrations.ts'
import type { CopiedStore } from '../../src/hub/store/store-copy.ts'
import { unwrapDataKey } from '../../src/hub/vault/data-key.ts'
import type { VaultConfig } from '../../src/hub/vault/vault-config.ts'
import type { UnsealedVault } from '../../src/hub/vault/vault.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import { makeQuickDirectory } from './quick-directory.ts'

export const PASSPHRASE = new Secret('correct horse battery staple')

interface BackedUp {
  readonly vault: UnsealedVault
  readonly store: CopiedStore
  readonly clock: Pick<Clock, 'now'>
}

interface RestorePlace {
  readonly root: string
  /** As SVC_CHECKPOINT_PATH. */
  readonly outside: string
  readonly clock: Clock
}

export async function backUpSimulated({ vault, store, clock }: BackedUp): Promise<Buffer> {
  // Its pace is that of the disk.
  const paced = { ...systemClock, now: () => clock.now() }
  const { stream } = await createBackupMaker({ vault, store, clock: paced }).begin('admin')
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

export async function restoreSimulated(
  backup: Buffer,
  { root, outside, clock }: RestorePlace,
): Promise<RestoredBackup> {
  const filesOf = (vaultId: string) => checkpointFiles(outside, vaultId)
  const restored = await restoreVault({
    ...reading(backup),
    root,
    clock,
    open: (vault) => openVaultStore(vault, { clock, checkPages: true }),
    readKept: (vaultId) => readKeptOutside(outside, vaultId),
    replay: replayActs,
  })
  await filesOf(restored.head.vaultId).setAside(clock.now())
  return restored
}

/** The same vault, without these entries of its log: everything that the keys can make again is made again. */
export async function dropEntries(
  backup: Buffer,
  seqs: { readonly from: number; readonly to: number },
): Promise<Buffer> {
  const directory = await makeQuickDirectory('dropped-')
  try {
    const unpacked = join(directory, 'vault')
    await mkdir(unpacked)
    const { head, vault } = await unpackBackup({ ...reading(backup), directory: unpacked })
    // Made to look as old as it was.
    const clock = { ...systemClock, now: () => new Date(head.createdAt) }
    applyMutation(vault, {
      name: 'rows dropped',
      table: 'eventos',
      sql: `DELETE FROM eventos WHERE seq BETWEEN ${seqs.from} AND ${seqs.to}`,
      isMadeAgain: true,
    })
    const store = await openVaultStore(vault, { clock })
    try {
      return await backUpSimulated({ vault, store, clock })
    } finally {
      await store.close()
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

function reading(backup: Buffer) {
  return {
    pieces: Readable.from([backup]),
    name: 'the backup',
    readable: { kind: SQLITE_COPY_KIND, version: MIGRATIONS.length },
    unwrap: (config: VaultConfig) => unwrapDataKey(config, PASSPHRASE),
  }
}
