// What other hubs did, told to the agents that this one has connections with. What is asked for finds out by itself; this is for what nobody
// asks for: streams, open connections, roots. docs/protocol.md HUB-7, HUB-8.

import { describeError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { AgentId } from '../protocol/identifiers.ts'
import type { AgentStreams } from './http/agent-streams.ts'
import type { News } from './store/store.ts'

export interface OthersActsOptions {
  readonly streams: Pick<AgentStreams, 'announce' | 'announceAll'>
  /** Of an agent that is revoked or removed. */
  readonly cutOff: (agentId: AgentId) => void
  readonly followRoots: () => Promise<void>
  /** What this hub does besides answering may have something new. */
  readonly wakeJobs: (areWebhooksChanged: boolean) => void
  readonly log: Logger
}

export interface OthersActs {
  /** Of what is committed here already. Waits for nothing. */
  note(this: void, news: readonly News[]): void
}

export function createOthersActs(options: OthersActsOptions): OthersActs {
  const { streams, log } = options
  let noted: News[] = []
  let isTelling = false
  const tellOnce = async (): Promise<void> => {
    const news = noted
    noted = []
    for (const { revoked } of news) if (revoked !== undefined) options.cutOff(revoked)
    if (news.some(({ areRootsChanged }) => areRootsChanged)) await options.followRoots()
    if (news.some(({ isForAll }) => isForAll)) streams.announceAll()
    for (const { agents = [] } of news) streams.announce(agents)
    options.wakeJobs(news.some(({ areWebhooksChanged }) => areWebhooksChanged))
  }
  const tell = async (): Promise<void> => {
    while (noted.length > 0) {
      await tellOnce().catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'What other hubs did was not told to agents')
      })
    }
    isTelling = false
  }
  return {
    note: (news) => {
      noted.push(...news)
      if (isTelling) return
      isTelling = true
      // Not within the turn in which the record is committed: others wait for that.
      setImmediate(() => void tell())
    },
  }
}
