// A vault is made of the newest image in the journal that it shares, and of all records after it: for another hub, or for the one whose machine
// is lost. Whatever stops it leaves no vault, or a whole one. docs/protocol.md DBS-14.

import { rm } from 'node:fs/promises'
import type { ChainEnd } from '../audit/chain-entries.ts'
import type { Clock } from '../platform/clock.ts'
import { syncDirectory, writeNewFile } from '../platform/files.ts'
import type { Secret } from '../platform/secret.ts'
import { requireNoWriteAheadLog } from './backup/require-no-write-ahead-log.ts'
import { refuseUsed } from './backup/restore-vault.ts'
import { connectTo } from './shared-journal.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'
import { restoreNewestImage } from './store/sqlite/restore-image.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { StoreError } from './store/store-error.ts'
import { openAuditHeadFile } from './vault/audit-head.ts'
import { parseVaultConfig, type VaultConfig } from './vault/vault-config.ts'
import { vaultFiles } from './vault/vault-files.ts'
import { makeVault, type UnsealedVault } from './vault/vault.ts'

export interface JoinOptions {
  /** Missing or empty. */
  readonly root: string
  /** What config.json of a vault that shares the journal holds, and its name for messages. */
  readonly config: { readonly text: string; readonly name: string }
  readonly unwrap: (config: VaultConfig) => Promise<Secret<Buffer>>
  readonly servers: DatabaseServers
  readonly clock: Clock
  readonly onProgress: (what: string) => void
  /** An image that is damaged, in whose place an older one was taken. */
  readonly onDamaged: (fault: StoreError) => void
}

export interface JoinedVault {
  readonly vaultId: string
  /** In its log. */
  readonly entries: number
}

const MODE = 0o600

export async function joinVault(options: JoinOptions): Promise<JoinedVault> {
  const { root, config: given, unwrap } = options
  await refuseUsed(root)
  const config = parseVaultConfig(given.text, given.name)
  const dataKey = await unwrap(config)
  return makeVault(root, async ({ staging }) => {
    const { vaultId } = config
    const databasePath = vaultFiles(staging).database
    const vault = { root: staging, vaultId, databasePath, dataKey, config }
    try {
      return { vaultId, entries: await fill(vault, options) }
    } catch (error) {
      // On a full disk, what there is of it is in the way of everything else.
      await rm(staging, { recursive: true, force: true })
      throw error
    }
  })
}

async function fill(vault: UnsealedVault, options: JoinOptions): Promise<number> {
  const { servers, clock, config, onProgress, onDamaged } = options
  const { root, databasePath: path, dataKey } = vault
  const { journal, seal, images, imageSeal } = connectTo(servers, vault, clock)
  try {
    onProgress('reading the image of the vault')
    const { damaged } = await restoreNewestImage({ images, seal: imageSeal, dataKey, path })
    for (const fault of damaged) onDamaged(fault)
    onProgress('reading what the journal has since')
    const store = await openSqliteStore({ path, dataKey, shared: { journal, seal } })
    let last: ChainEnd | undefined
    try {
      await store.follow()
      last = await store.reader.findChainEnd()
    } finally {
      await store.close()
    }
    await requireNoWriteAheadLog(vault)
    const files = vaultFiles(root)
    await writeNewFile(files.config, config.text, MODE)
    if (last !== undefined) {
      const headFile = openAuditHeadFile(files.auditHead, dataKey)
      try {
        headFile.reset(last)
      } finally {
        headFile.close()
      }
    }
    await syncDirectory(root)
    return last?.seq ?? 0
  } finally {
    await journal.close()
  }
}
