// When each agent last asked for its manifest. Polls are frequent and losing the last few seconds of them harms nobody,
// so they gather in memory and reach the store now and then.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'

const FLUSH_INTERVAL_MS = 5000
/** So many take a few milliseconds; other writes may come between. */
const WRITE_POLLS_MAX = 1000

export interface PollRecorder {
  record(agentId: AgentId): void
  /** The last poll, written already or not. */
  lastPollAt(agentId: AgentId): Date | undefined
  flush(): Promise<void>
  /** Flushes every few seconds until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

export function createPollRecorder(store: Store, clock: Clock, log: Logger): PollRecorder {
  let pending = new Map<AgentId, Date>()
  const flush = async (): Promise<void> => {
    if (pending.size === 0) return
    // Neighbours share a page.
    const polls = [...pending].toSorted(([one], [other]) => (one < other ? -1 : 1))
    pending = new Map()
    for (let start = 0; start < polls.length; start += WRITE_POLLS_MAX) {
      const some = new Map(polls.slice(start, start + WRITE_POLLS_MAX))
      await store.write((writer) => writer.setAgentsPolled(some))
    }
  }
  return {
    record: (agentId) => pending.set(agentId, clock.now()),
    lastPollAt: (agentId) => pending.get(agentId),
    flush,
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(FLUSH_INTERVAL_MS, signal).catch(() => undefined)
        await flush().catch((error: unknown) => log.warn({ err: error }, 'Poll times not stored'))
      }
    },
  }
}
