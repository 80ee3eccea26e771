// Room that is kept back on the vault's file system. The audit log is for ever and is what fills it; below the floor each
// agent may still add a little of the floor's upper half (docs/protocol.md LIM-41), below that no events are taken, so that
// what is left is there for what a fleet lives on: its renewals. docs/protocol.md LIM-20.

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

/** For events: above the floor, in the upper half of the space below it, or in the lower half. */
export type FreeSpace = 'enough' | 'reserve' | 'none'

/** Asked of the file system at most once a second. */
export type FindFreeSpace = () => Promise<FreeSpace>

const CHECK_INTERVAL_MS = 1000

const MESSAGES: Readonly<Record<FreeSpace, string>> = {
  enough: 'Disk has room again, the hub takes events',
  reserve: 'Disk nearly full, each agent has a little room for events',
  none: 'Disk nearly full, the hub refuses events',
}

export function createFreeSpaceCheck(options: FreeSpaceOptions): FindFreeSpace {
  const { directory, floorBytes, clock, log, measure = measureFreeBytes } = options
  if (!Number.isFinite(floorBytes)) return () => Promise.resolve('enough')
  let room: FreeSpace = 'enough'
  const check = async (): Promise<FreeSpace> => {
    const freeBytes = await measure(directory)
    const found = roomOf(freeBytes, floorBytes)
    if (found === room) return room
    room = found
    const fields = { free_bytes: freeBytes, floor_bytes: floorBytes, vault: directory }
    if (room === 'enough') log.info(fields, MESSAGES[room])
    else log.error(fields, MESSAGES[room])
    return room
  }
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let latest: Promise<FreeSpace> | undefined
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

function roomOf(freeBytes: number, floorBytes: number): FreeSpace {
  if (freeBytes >= floorBytes) return 'enough'
  return freeBytes >= floorBytes / 2 ? 'reserve' : 'none'
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
