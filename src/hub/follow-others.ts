// What other hubs did, told to the agents that this one has connections with. What is asked for finds out by itself; this is for what nobody
// asks for: streams, open connections, roots. docs/protocol.md HUB-7, HUB-8.

import type { Clock } from '../platform/clock.ts'
import { describeError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import { createWakeablePause } from '../platform/wakeable-pause.ts'
import type { AgentId } from '../protocol/identifiers.ts'
import type { AgentStreams } from './http/agent-streams.ts'
import type { News } from './store/store.ts'

export interface OthersActsOptions {
  readonly streams: Pick<AgentStreams, 'announce' | 'announceAll'>
  /** Of an agent that is revoked or removed. */
  readonly cutOff: (agentId: AgentId) => void
  readonly followRoots: () => Promise<void>
  /** What this hub does besides answering may have something new. */
  readonly wakeJobs: (changed: {
    readonly areWebhooksChanged: boolean
    readonly areRolloutsChanged: boolean
  }) => void
  readonly clock: Clock
  readonly log: Logger
}

export interface OthersActs {
  /** Of what is committed here already. Waits for nothing. */
  note(this: void, news: readonly News[]): void
  /** Until the signal. */
  run(this: void, signal: AbortSignal): Promise<void>
}

const RETRY_MS = 5000
/** What is noted ends the pause. */
const IDLE_MS = 10 * 60_000

export function createOthersActs(options: OthersActsOptions): OthersActs {
  const { streams, clock, log } = options
  let noted: News[] = []
  let areRootsDue = false
  const { wake, pause } = createWakeablePause(clock)
  const tell = async (): Promise<void> => {
    const news = noted
    noted = []
    for (const { revoked } of news) if (revoked !== undefined) options.cutOff(revoked)
    for (const { agents = [] } of news) streams.announce(agents)
    options.wakeJobs({
      areWebhooksChanged: news.some((each) => each.areWebhooksChanged),
      areRolloutsChanged: news.some((each) => each.areRolloutsChanged),
    })
    areRootsDue ||= news.some(({ areRootsChanged }) => areRootsChanged)
    const isForAll = news.some((each) => each.isForAll)
    if (areRootsDue) await options.followRoots()
    if (areRootsDue || isForAll) streams.announceAll()
    areRootsDue = false
  }
  return {
    note: (news) => {
      noted.push(...news)
      // Not within the turn in which the record is committed: others wait for that.
      setImmediate(wake)
    },
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await tell()
          await pause(IDLE_MS, signal)
        } catch (error) {
          log.warn(
            { reason: describeError(error) },
            'The roots that another hub put in force are not followed: trying again',
          )
          await clock.sleep(RETRY_MS, signal).catch(() => undefined)
        }
      }
    },
  }
}
