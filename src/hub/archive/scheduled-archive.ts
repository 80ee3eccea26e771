// The hub archives by itself what is older than SVC_LOG_KEEP. docs/protocol.md ARC-12.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { type LogArchiver, SEGMENT_ENTRIES_MAX } from '../domain/log-archive.ts'
import type { StoreReader } from '../store/store.ts'

export interface ScheduledArchiveOptions {
  readonly archiver: LogArchiver
  readonly reader: Pick<StoreReader, 'findLastSegment'>
  /** Older entries leave the vault. */
  readonly keepMs: number
  readonly clock: Clock
  readonly log: Logger
}

export interface ScheduledArchive {
  /** Whether the last attempt failed. */
  isFailing(): boolean
  run(this: void, signal: AbortSignal): Promise<void>
}

const LOOK_INTERVAL_MS = 15 * 60_000
/** A quiet hub has a small segment a day, a busy one full ones. */
const SMALL_INTERVAL_MS = 86_400_000

export function createScheduledArchive(options: ScheduledArchiveOptions): ScheduledArchive {
  const { archiver, reader, keepMs, clock, log } = options
  let failing = false
  const attempt = async (signal: AbortSignal): Promise<void> => {
    const before = new Date(Math.max(0, clock.now().getTime() - keepMs))
    const last = await reader.findLastSegment()
    const waiting = (await archiver.findTarget(before)) - (last?.last ?? 0)
    const sinceLastMs = clock.now().getTime() - (last?.createdAt.getTime() ?? 0)
    const isDue = waiting >= SEGMENT_ENTRIES_MAX || sinceLastMs >= SMALL_INTERVAL_MS
    // What a hub that was killed had yet to remove is removed in any case.
    const until = isDue ? before : new Date(0)
    while (!signal.aborted) {
      const { isDone } = await archiver.step(until, 'hub')
      if (isDone) return
    }
  }
  return {
    isFailing: () => failing,
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await attempt(signal)
          if (failing) log.info({}, 'Old entries archived again')
          failing = false
        } catch (error) {
          failing = true
          log.error({ reason: describeError(error) }, 'Old entries not archived, tried again')
        }
        await clock.sleep(LOOK_INTERVAL_MS, signal).catch(() => undefined)
      }
    },
  }
}
