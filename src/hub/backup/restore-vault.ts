// A vault from a backup: unpacked beside its place, checked from the first page to the last, and put into its place by the
// rename that makes any vault. docs/protocol.md BKP-8, BKP-9.

import { readdir, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { BackupHead } from '../../backup/backup-head.ts'
import type { Clock } from '../../platform/clock.ts'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { exists } from '../../platform/files.ts'
import { entriesOfActs } from '../service/admin-act.ts'
import { appendEntries } from '../service/append-entries.ts'
import { beginEpoch, openCheckpoint } from '../service/log-tree.ts'
import { makeVault, type UnsealedVault } from '../vault/vault.ts'
import { vaultFiles } from '../vault/vault-files.ts'
import { checkLog } from './check-log.ts'
import { decideRestoredActs } from './decide-restored-acts.ts'
import { requireNoWriteAheadLog } from './require-no-write-ahead-log.ts'
import { unpackBackup, type UnpackOptions } from './unpack-backup.ts'
import type { OpenUnpacked } from './verify-backup.ts'

export interface RestoreOptions extends Omit<UnpackOptions, 'directory'> {
  readonly root: string
  readonly clock: Clock
  readonly open: OpenUnpacked
  /** The newest checkpoint that is kept outside the vault. */
  readonly readKeptCheckpoint?: ((vaultId: string) => Promise<string | undefined>) | undefined
  readonly onChecked?: ((entries: number, all: number) => void) | undefined
}

const NAMED_MAX = 5

/** Throws UserError for a directory with anything in it, which stays as it is. */
export async function restoreVault(options: RestoreOptions): Promise<BackupHead> {
  const { root } = options
  await refuseUsed(root)
  return makeVault(root, async ({ staging }) => {
    try {
      const { head, vault } = await unpackBackup({ ...options, directory: staging })
      await sayFirst(options, head, vault)
      return head
    } catch (error) {
      // On a full disk, what there is of it is in the way of everything else.
      await rm(staging, { recursive: true, force: true })
      throw error
    }
  })
}

async function sayFirst(
  options: RestoreOptions,
  head: BackupHead,
  vault: UnsealedVault,
): Promise<void> {
  const { open, clock, name, onChecked } = options
  const { vaultId } = vault
  const keptCheckpoint = await options.readKeptCheckpoint?.(vaultId)
  const store = await open(vault)
  try {
    await checkLog({ reader: store.reader, log: head.log, name, onProgress: onChecked })
    const now = clock.now()
    // The time, so that a backup that is restored twice does not sign under one name twice.
    const epochMin = Math.floor(now.getTime() / 1000)
    await store.write(async (writer) => {
      const before = await writer.findLogTree()
      // Entries that the backup does not have: witnesses that saw them are told of them.
      const kept = before && keptCheckpoint ? openCheckpoint(before, keptCheckpoint) : undefined
      const last = (kept?.size ?? 0) > (before?.frontier.size ?? 0) ? kept : undefined
      const tree = before && beginEpoch(before, vaultId, { last, atLeast: epochMin })
      if (tree !== undefined) await writer.putLogTree(tree, [])
      await writer.setLastRestore({ at: now, backupAt: new Date(head.createdAt) })
      const acts = decideRestoredActs({ head, tree, keptCheckpoint })
      return appendEntries(writer, entriesOfActs(acts, now, 'admin'))
    })
  } finally {
    await store.close()
  }
  await requireNoWriteAheadLog(vault)
}

/** What an interrupted one left is no reason; makeVault removes it. */
export async function refuseUsed(root: string): Promise<void> {
  const files = vaultFiles(root)
  if (await exists(files.config)) {
    throw new UserError('vault_exists', `there is a vault at ${root}`, {
      hint: `stop the hub if it runs, and move the vault aside: mv ${root} ${root}.old`,
    })
  }
  const expected = new Set([basename(files.lock), basename(files.staging), 'lost+found'])
  if (await exists(files.stagedConfig)) {
    expected.add(basename(files.database)).add(basename(files.auditHead))
  }
  const found = (await list(root)).filter((name) => !expected.has(name))
  if (found.length === 0) return
  throw new UserError(
    'directory_in_use',
    `${root} has other files in it: ${found.slice(0, NAMED_MAX).join(', ')}`,
    {
      hint: 'move them away first, or name another directory with SVC_VAULT_ROOT',
    },
  )
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return []
    throw error
  }
}
