// A backup of the vault that this process has open: of one moment, in a stream. One at a time, and never for long: what a
// backup holds up is bounded, and a reader that is too slow gets no backup. docs/protocol.md BKP-1, BKP-4 to BKP-6.

import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { GENESIS_HASH } from '../../audit/hash-chain.ts'
import { BACKUP_SALT_BYTES, type BackupHead } from '../../backup/backup-head.ts'
import { BackupError } from '../../backup/backup-error.ts'
import { deriveBackupKeys, FRAME_BYTES } from '../../backup/backup-frames.ts'
import { encodeBackup } from '../../backup/encode-backup.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { readVersion } from '../../platform/version.ts'
import { HubEventType } from '../../protocol/words.ts'
import { AdminRefusal } from '../service/admin-act.ts'
import { recordHubAct } from '../service/hub-acts.ts'
import type { CopiedStore, StoreCopy } from '../store/store-copy.ts'
import type { UnsealedVault } from '../vault/unseal-vault.ts'
import { vaultFiles } from '../vault/vault-files.ts'
import { parseVaultConfig } from '../vault/vault-config.ts'
import { type BackupPace, findBackupFault } from './backup-pace.ts'

export interface Backup {
  readonly head: BackupHead
  /** Of all of it. */
  readonly byteCount: number
  /** Of buffers, which its reader may discard. Destroyed with a BackupError when it takes too long. */
  readonly stream: Readable
}

export interface BackupMaker {
  /** Throws AdminRefusal `backup_running` while another one is made. */
  begin(actor: string): Promise<Backup>
}

export interface BackupMakerOptions {
  readonly vault: UnsealedVault
  readonly store: CopiedStore
  readonly clock: Clock
  /** For a vault that others use meanwhile. */
  readonly pace?: BackupPace | undefined
  readonly log?: Logger | undefined
}

const CHECK_INTERVAL_MS = 1000
/** An event of the stream: nothing comes after what comes next. */
const ALL_SENT = 'allSent'

export function createBackupMaker(options: BackupMakerOptions): BackupMaker {
  let isRunning = false
  let ending: Promise<void> | undefined
  return {
    begin: async (actor) => {
      // The reader of a backup that is all sent may ask for the next one before the hub has put it away.
      await ending
      if (isRunning) throw new AdminRefusal('backup_running', 'another backup is being made')
      isRunning = true
      try {
        const backup = await beginBackup(options, actor)
        const closed = new Promise<void>((resolve) => backup.stream.once('close', () => resolve()))
        backup.stream.once(ALL_SENT, () => {
          ending = closed
        })
        void closed.finally(() => {
          isRunning = false
          ending = undefined
        })
        return backup
      } catch (error) {
        isRunning = false
        throw error
      }
    },
  }
}

async function beginBackup(options: BackupMakerOptions, actor: string): Promise<Backup> {
  const { vault, store, clock, pace } = options
  const config = await readConfig(vault)
  const backupId = randomUUID()
  const at = clock.now()
  // First of all, so that nobody takes a backup unseen, and the backup itself has the entry.
  await store.write((writer) =>
    recordHubAct(writer, at, HubEventType.backupStarted, { actor, backup_id: backupId }),
  )
  const copy = await store.openCopy()
  const head: BackupHead = {
    backupId,
    vaultId: vault.vaultId,
    createdAt: at.toISOString(),
    actor,
    program: readVersion(),
    store: { kind: copy.kind, version: copy.version, bytes: copy.bytes },
    log: {
      entries: copy.last?.seq ?? 0,
      hash: copy.last?.hash ?? GENESIS_HASH,
      timestamp: copy.last?.timestamp ?? null,
      checkpoint: copy.checkpoint ?? null,
    },
    salt: randomBytes(BACKUP_SALT_BYTES).toString('hex'),
    config,
  }
  const { byteCount, pieces } = encodeBackup({
    head,
    keys: deriveBackupKeys(vault.dataKey, head),
    readContent: (into, position) => copy.read(into, position),
    pause: createPause(clock, pace),
  })
  const progress = { bytes: 0 }
  const onLast = (): void => void stream.emit(ALL_SENT)
  // One piece ahead of its reader, each as it was sealed.
  const stream: Readable = Readable.from(counting(pieces, { progress, byteCount, onLast }), {
    highWaterMark: 1,
  })
  const ended = new AbortController()
  // A reader of the stream learns of it too; without this a stream that nobody reads yet would end the process.
  let failure: Error | undefined
  stream.once('error', (error: Error) => {
    failure = error
  })
  stream.once('close', () => {
    ended.abort()
    copy.close().catch((error: unknown) => {
      options.log?.error({ reason: describeError(error) }, 'Copy of the vault not closed')
    })
    const fields = { backup_id: backupId, actor, bytes: byteCount, entries: head.log.entries }
    if (progress.bytes === byteCount) return options.log?.info(fields, 'Backup made')
    const reason = failure === undefined ? 'its reader has gone' : describeError(failure)
    return options.log?.warn({ ...fields, sent: progress.bytes, reason }, 'Backup not finished')
  })
  if (pace !== undefined) void watchPace({ clock, pace, copy, stream, progress }, ended.signal)
  return { head, byteCount, stream }
}

/** Whatever wraps the data key now. Nobody changes it while this process holds the vault. */
async function readConfig({ root, vaultId }: UnsealedVault): Promise<string> {
  const path = vaultFiles(root).config
  const text = await readFile(path, 'utf8')
  if (parseVaultConfig(text, path).vaultId === vaultId) return text
  throw new BackupError('backup_damaged', `${path} belongs to another vault`, {
    hint: 'restore it; without it nobody can open the vault',
  })
}

function createPause(clock: Clock, pace: BackupPace | undefined): () => Promise<void> {
  if (pace === undefined) return () => Promise.resolve()
  let sinceMs = clock.now().getTime()
  return async () => {
    const tookMs = clock.now().getTime() - sinceMs
    const wantedMs = (FRAME_BYTES / pace.bytesPerSecondMax) * 1000
    await clock.sleep(Math.max(1, wantedMs - tookMs))
    sinceMs = clock.now().getTime()
  }
}

interface Counting {
  readonly progress: { bytes: number }
  readonly byteCount: number
  readonly onLast: () => void
}

async function* counting(
  pieces: AsyncIterable<Buffer>,
  { progress, byteCount, onLast }: Counting,
): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    if (progress.bytes + piece.length === byteCount) onLast()
    yield piece
    progress.bytes += piece.length
  }
}

interface WatchedBackup {
  readonly clock: Clock
  readonly pace: BackupPace
  readonly copy: StoreCopy
  readonly stream: Readable
  readonly progress: { readonly bytes: number }
}

async function watchPace(watched: WatchedBackup, ended: AbortSignal): Promise<void> {
  const { clock, pace, copy, stream, progress } = watched
  const startMs = clock.now().getTime()
  while (!ended.aborted) {
    try {
      await clock.sleep(CHECK_INTERVAL_MS, ended)
    } catch {
      // It ended meanwhile.
      return
    }
    const elapsedMs = clock.now().getTime() - startMs
    try {
      const heldBytes = await copy.countHeldBytes()
      const fault = findBackupFault({ elapsedMs, heldBytes, sentBytes: progress.bytes }, pace)
      if (fault !== undefined) stream.destroy(new BackupError('backup_given_up', fault))
    } catch (error) {
      // What it holds up would have no bound.
      stream.destroy(new BackupError('backup_given_up', describeError(error), { cause: error }))
    }
  }
}
