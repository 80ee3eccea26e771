// The acts that earlier versions recorded are indexed by what they are about while the hub runs: a vault of ten million entries
// has a million of them, and nobody waits for that. docs/protocol.md CHN-11.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Store } from '../../store/store.ts'

/** So many take about ten milliseconds; the pause leaves everybody else most of the time. */
const SLICE_ACTS = 200
const PAUSE_MS = 100
const RETRY_MS = 60_000

interface OlderActs {
  readonly store: Store
  readonly clock: Clock
}

/** The newest first: they are asked for most. A hub that ends goes on from there when it starts again. */
export async function indexOlderActs(
  { store, clock }: OlderActs,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  if ((await store.reader.findIndexedFrom()) === 1) return
  log.info({}, 'Indexing older entries')
  while (!signal.aborted) {
    let pauseMs = PAUSE_MS
    try {
      const isAnyLeft = await store.write((writer) => writer.indexOlderActs(SLICE_ACTS))
      if (!isAnyLeft) {
        log.info({}, 'Older entries indexed')
        return
      }
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'Older entries not indexed, tried again')
      pauseMs = RETRY_MS
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined)
  }
}
