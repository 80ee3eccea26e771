// Room that is kept back on the vault's file system. The audit log is for ever and is what fills it; below the floor no
// more events are taken, so that what is left is there for what a fleet lives on: its renewals. docs/protocol.md LIM-20.

import { statfs } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'

export interface FreeSpaceOptions {
  readonly directory: string
  /** `Number.POSITIVE_INFINITY` lifts it. */
  readonly floorBytes: number
  readonly clock: Clock
  readonly log: Logger
  readonly measure?: (directory: string) => Promise<number>
}

const CHECK_INTERVAL_MS = 1000

/** Whether there is room for events, asked of the file system at most once a second. */
export function createFreeSpaceCheck(options: FreeSpaceOptions): () => Promise<boolean> {
  const { directory, floorBytes, clock, log, measure = measureFreeBytes } = options
  if (!Number.isFinite(floorBytes)) return () => Promise.resolve(true)
  let isBelow = false
  const check = async (): Promise<boolean> => {
    const freeBytes = await measure(directory)
    if (isBelow !== freeBytes < floorBytes) {
      isBelow = !isBelow
      const fields = { free_bytes: freeBytes, floor_bytes: floorBytes, vault: directory }
      if (isBelow) log.error(fields, 'Disk nearly full, events are refused')
      else log.info(fields, 'Disk has room again, events are taken')
    }
    return !isBelow
  }
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let latest: Promise<boolean> | undefined
  return () => {
    const nowMs = clock.now().getTime()
    // A clock that was put back must not keep an old answer alive.
    if (latest === undefined || Math.abs(nowMs - checkedAtMs) >= CHECK_INTERVAL_MS) {
      checkedAtMs = nowMs
      latest = check()
    }
    return latest
  }
}

/** A file system that does not say counts as empty: a write that fails is refused by itself. */
async function measureFreeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
