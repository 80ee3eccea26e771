// Which segment files are there: each is looked for by its name and its length, and none is read. docs/protocol.md ARC-13.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { LogArchiver, SegmentState } from '../domain/log-archive.ts'
import type { LogSegment } from '../domain/log-segment.ts'
import type { StoreReader } from '../store/store.ts'

export interface SegmentsSeen {
  readonly counts: Readonly<Record<SegmentState, number>>
  /** The first ones that are missing or damaged. */
  readonly faulty: readonly (Pick<LogSegment, 'file' | 'first' | 'last'> & {
    readonly state: SegmentState
  })[]
}

export interface SegmentWatch {
  /** What it saw last; undefined before the first look. */
  seen(): SegmentsSeen | undefined
  run(this: void, signal: AbortSignal): Promise<void>
}

export interface SegmentWatchOptions {
  readonly archiver: Pick<LogArchiver, 'findState'>
  readonly reader: Pick<StoreReader, 'listSegments'>
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_INTERVAL_MS = 15 * 60_000
const PAGE = 500
const FAULTY_MAX = 20

export async function lookAtSegments(
  archiver: Pick<LogArchiver, 'findState'>,
  reader: Pick<StoreReader, 'listSegments'>,
): Promise<SegmentsSeen> {
  const counts = { present: 0, missing: 0, damaged: 0 }
  const faulty = []
  let page = await reader.listSegments(0, PAGE)
  for (; page.length > 0; page = await reader.listSegments(page.at(-1)?.last ?? 0, PAGE)) {
    for (const segment of page) {
      const state = await archiver.findState(segment)
      counts[state] += 1
      if (state === 'present' || faulty.length === FAULTY_MAX) continue
      const { file, first, last } = segment
      faulty.push({ file, first, last, state })
    }
  }
  return { counts, faulty }
}

/** Looks again and again, so that a scrape looks at no directory, which may be on a machine that is gone. */
export function createSegmentWatch(options: SegmentWatchOptions): SegmentWatch {
  const { archiver, reader, clock, log } = options
  let seen: SegmentsSeen | undefined
  return {
    seen: () => seen,
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          seen = await lookAtSegments(archiver, reader)
        } catch (error) {
          log.error({ reason: describeError(error) }, 'Segments of the log not looked at')
        }
        await clock.sleep(LOOK_INTERVAL_MS, signal).catch(() => undefined)
      }
    },
  }
}
