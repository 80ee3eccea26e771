// A vault from a backup: unpacked beside its place, checked from the first page to the last, and put into its place by the
// rename that makes any vault. docs/protocol.md BKP-8, BKP-9.

import { readdir, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Checkpoint } from '../../audit/checkpoint.ts'
import type { BackupHead } from '../../backup/backup-head.ts'
import type { Clock } from '../../platform/clock.ts'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { exists } from '../../platform/files.ts'
import { type ActSegment, openSegments } from '../service/act-segment.ts'
import { findEndedLogs } from '../service/ended-logs.ts'
import { type AdminAct, entriesOfActs } from '../service/admin-act.ts'
import { appendEntries } from '../service/append-entries.ts'
import { type ActsSince, chooseActs } from '../service/choose-acts.ts'
import type { LogTree } from '../domain/log-tree.ts'
import type { RememberedAct } from '../domain/remembered-act.ts'
import type { StoreWriter } from '../store/store.ts'
import { beginEpoch, findNewestSigned } from '../service/log-tree.ts'
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
  /** What is kept outside the vault; undefined where nobody asked for that. */
  readonly readKept: ((vaultId: string) => Promise<KeptOutside>) | undefined
  /** Does acts again that are newer than the backup; what the log says of them. */
  readonly replay: (
    writer: StoreWriter,
    acts: readonly RememberedAct[],
    now: Date,
  ) => Promise<readonly AdminAct[]>
  readonly onChecked?: ((entries: number, all: number) => void) | undefined
}

export interface KeptOutside {
  /** As they stand there. */
  readonly checkpoints: readonly string[]
  /** Set aside when an earlier restore, or an accepted loss, began another epoch. */
  readonly earlier: readonly string[]
  /** Segments of remembered acts, as they stand there. */
  readonly acts: readonly string[]
}

export interface RestoredBackup {
  readonly head: BackupHead
  /** Acts after the backup that were done again. */
  readonly actsDone: number
  /** Why there may be others; undefined when there are none but those of the last second. */
  readonly gap: string | undefined
}

const NAMED_MAX = 5

/** Throws UserError for a directory with anything in it, which stays as it is. */
export async function restoreVault(options: RestoreOptions): Promise<RestoredBackup> {
  const { root } = options
  await refuseUsed(root)
  return makeVault(root, async ({ staging }) => {
    try {
      const { head, vault } = await unpackBackup({ ...options, directory: staging })
      return { head, ...(await sayFirst(options, head, vault)) }
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
): Promise<Omit<RestoredBackup, 'head'>> {
  const { open, clock, name, onChecked } = options
  const { vaultId } = vault
  const kept = await options.readKept?.(vaultId)
  const store = await open(vault)
  let said: Omit<RestoredBackup, 'head'>
  try {
    await checkLog({ reader: store.reader, log: head.log, name, onProgress: onChecked })
    const now = clock.now()
    // The time, so that a backup that is restored twice does not sign under one name twice.
    const epochMin = Math.floor(now.getTime() / 1000)
    said = await store.write(async (writer) => {
      const before = await writer.findLogTree()
      const newest = before && findNewestSigned(before, kept?.checkpoints ?? [])
      const checkpoint = newest?.checkpoint
      const segments = before === undefined ? [] : openSegments(kept?.acts ?? [], before)
      const { acts, gap } = chooseKept(before, head, kept && segments, checkpoint)
      // Entries that the backup does not have: witnesses that saw them are told of them.
      const signed = [...(kept?.checkpoints ?? []), ...(kept?.earlier ?? [])]
      const ended = before && (await findEndedLogs(writer, before, signed, segments))
      const tree = before && beginEpoch(before, vaultId, { ended, atLeast: epochMin })
      if (tree !== undefined) await writer.putLogTree(tree, [])
      // Who signed out after the backup is not signed in again, nor is who was revoked: docs/protocol.md SES-12, OID-12.
      await writer.sessions.removeAll()
      await writer.setLastRestore({ at: now, backupAt: new Date(head.createdAt) })
      const keptCheckpoint = newest?.note
      const restored = decideRestoredActs({ head, tree, keptCheckpoint, gap })
      await appendEntries(writer, entriesOfActs(restored, now, 'admin'))
      const done = await options.replay(writer, acts, now)
      await appendEntries(writer, entriesOfActs(done, now, 'admin'))
      return { actsDone: done.length, gap }
    })
  } finally {
    await store.close()
  }
  await requireNoWriteAheadLog(vault)
  return said
}

/** Only what the vault itself has signed counts: nobody else can revoke anybody, or leave out a revocation unseen. */
function chooseKept(
  tree: LogTree | undefined,
  { log }: BackupHead,
  segments: readonly ActSegment[] | undefined,
  checkpoint: Checkpoint | undefined,
): ActsSince {
  if (segments === undefined) return { acts: [], gap: 'SVC_CHECKPOINT_PATH is not set' }
  if (tree === undefined) return { acts: [], gap: 'the vault had signed nothing yet' }
  return chooseActs(segments, { epoch: tree.epoch, entries: log.entries }, checkpoint)
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
