/** What a backup may ask of a hub that works meanwhile. */
export interface BackupPace {
  /** Read, sealed and written no faster than this, so that CPU and disk are left to the hub. */
  readonly bytesPerSecondMax: number
  /** What the store may have to put off. */
  readonly heldBytesMax: number
  readonly bytesPerSecondMin: number
  /** Before the rate counts. */
  readonly graceMs: number
}

export const BACKUP_PACE: Omit<BackupPace, 'heldBytesMax'> = {
  bytesPerSecondMax: 16 * 1024 * 1024,
  bytesPerSecondMin: 1024 * 1024,
  graceMs: 30_000,
}

export interface BackupProgress {
  readonly elapsedMs: number
  readonly sentBytes: number
  readonly heldBytes: number
}

/** Why a backup has to be given up, if so. docs/protocol.md BKP-5. */
export function findBackupFault(progress: BackupProgress, pace: BackupPace): string | undefined {
  const { elapsedMs, sentBytes, heldBytes } = progress
  if (heldBytes > pace.heldBytesMax) {
    return `the vault wrote ${heldBytes} bytes while it was copied, more than ${pace.heldBytesMax}`
  }
  if (elapsedMs < pace.graceMs) return undefined
  const bytesPerSecond = Math.floor(sentBytes / (elapsedMs / 1000))
  if (bytesPerSecond >= pace.bytesPerSecondMin) return undefined
  return `the reader took ${bytesPerSecond} bytes a second, fewer than ${pace.bytesPerSecondMin}`
}
