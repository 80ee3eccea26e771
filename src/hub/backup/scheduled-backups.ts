// Backups that the hub makes by itself, into a directory: one each interval, the oldest removed when a new one is whole.
// docs/protocol.md BKP-11 to BKP-13.

import { constants } from 'node:fs'
import { access, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { isPartialFile, streamToFile } from '../../platform/stream-to-file.ts'
import { BackupOnItsWay } from '../../backup/follow-backup.ts'
import { discardTaken } from '../../platform/discard-bytes.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError, SvcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import {
  type BackedUpVaultKey,
  type KeptBackup,
  listKeptBackups,
  nameOfBackup,
  startOfNames,
} from './kept-backups.ts'
import type { BackupMaker } from './make-backup.ts'

export interface ScheduledBackupsOptions {
  readonly directory: string
  readonly intervalMs: number
  /** How many whole ones stay; at least one. */
  readonly keep: number
  readonly vault: BackedUpVaultKey
  readonly backups: BackupMaker
  /** How large a backup would be about. */
  readonly countBytes: () => Promise<number>
  /** What has to stay free besides. */
  readonly freeSpaceFloorBytes: number
  readonly clock: Clock
  readonly log: Logger
  readonly measureFreeBytes?: (directory: string) => Promise<number>
}

export interface ScheduledBackups {
  /** Of the newest whole one; undefined when there is none. */
  lastAt(): Date | undefined
  run(this: void, signal: AbortSignal): Promise<void>
}

/** A clock that was set is noticed that soon. */
const LOOK_INTERVAL_MS = 60_000
const RETRY_MS = 15 * 60_000

export function createScheduledBackups(options: ScheduledBackupsOptions): ScheduledBackups {
  const { directory, intervalMs, clock, log } = options
  let last: Date | undefined
  const look = async (): Promise<void> => {
    last = (await listKept(options)).at(-1)?.at
  }
  const attempt = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await makeOne(options, signal)
      await look()
      return true
    } catch (error) {
      // A hub that stops does not wait for it.
      if (signal.aborted) return false
      const fields = { reason: describeError(error), directory, last: last?.toISOString() ?? null }
      log.error(fields, 'Scheduled backup failed')
      return false
    }
  }
  return {
    lastAt: () => last,
    run: async (signal) => {
      await tidy(options, look)
      let retryAtMs = 0
      while (!signal.aborted) {
        const nowMs = clock.now().getTime()
        if (isDue(last, intervalMs, nowMs) && nowMs >= retryAtMs) {
          retryAtMs = (await attempt(signal)) ? 0 : nowMs + Math.min(RETRY_MS, intervalMs)
        }
        // The signal ends the wait.
        await clock.sleep(Math.min(LOOK_INTERVAL_MS, intervalMs), signal).catch(() => undefined)
      }
    },
  }
}

/** One of the future is of a clock that was wrong: it is no reason to make none. */
export function isDue(last: Date | undefined, intervalMs: number, nowMs: number): boolean {
  if (last === undefined) return true
  return Math.abs(nowMs - last.getTime()) >= intervalMs
}

/** What a crash left, before anything else; a directory that cannot be read is told when a backup is due. */
async function tidy(
  { directory, vault, log }: ScheduledBackupsOptions,
  look: () => Promise<void>,
): Promise<void> {
  try {
    const names = await readdir(directory)
    const left = names.filter(
      (name) => name.startsWith(startOfNames(vault.vaultId)) && isPartialFile(name),
    )
    for (const name of left) await rm(join(directory, name), { force: true })
    await look()
  } catch (error) {
    log.warn({ reason: describeError(error), directory }, 'Directory of backups not read')
  }
}

async function makeOne(options: ScheduledBackupsOptions, signal: AbortSignal): Promise<void> {
  const { directory, vault, keep, backups } = options
  // Before anything is recorded: a full disk must not fill the log.
  await requireRoom(options)
  const { head, stream } = await backups.begin('hub')
  const stop = (): void => void stream.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const path = join(directory, nameOfBackup(vault.vaultId, head.createdAt))
    const pieces = new BackupOnItsWay(discardTaken(stream), { name: 'the backup' }).pieces()
    await streamToFile(path, pieces, { replace: true })
  } finally {
    signal.removeEventListener('abort', stop)
    stream.destroy()
  }
  for (const { path } of chooseToRemove(await listKept(options), keep)) {
    await rm(path, { force: true })
  }
}

/** One that is further ahead than the next one would be is as if it were not there. */
function listKept({
  directory,
  vault,
  intervalMs,
  clock,
}: ScheduledBackupsOptions): Promise<KeptBackup[]> {
  return listKeptBackups(directory, vault, new Date(clock.now().getTime() + intervalMs))
}

/** The oldest; the newest one stays whatever `keep` says. */
export function chooseToRemove(kept: readonly KeptBackup[], keep: number): readonly KeptBackup[] {
  return kept.slice(0, Math.max(0, kept.length - Math.max(1, keep)))
}

/** A backup on the disk of the vault must not take what the hub lives on. */
async function requireRoom(options: ScheduledBackupsOptions): Promise<void> {
  const { directory, freeSpaceFloorBytes, countBytes, measureFreeBytes = measure } = options
  await access(directory, constants.W_OK)
  const byteCount = await countBytes()
  const floor = Number.isFinite(freeSpaceFloorBytes) ? freeSpaceFloorBytes : 0
  const freeBytes = await measureFreeBytes(directory)
  if (freeBytes >= byteCount + floor) return
  throw new SvcError(
    'backup_no_room',
    `${directory} has ${freeBytes} bytes free, and the backup needs ${byteCount}`,
  )
}

async function measure(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}
