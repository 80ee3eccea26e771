// Holds the hub's stream for as long as the agent runs. Polling continues beside the stream, whatever happens to the stream.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { backoffDelayMs, type Random, UNKNOWN_ROUTE_AGAIN_MS, waitFor } from '../hub/backoff.ts'
import { describeRefusal } from '../hub/failures.ts'
import type { HubGateway } from '../hub/gateway.ts'
import type { StreamMessage } from '../../platform/parse-event-stream.ts'
import type { HubRefusal } from '../hub/request.ts'

export interface StreamState {
  /** `not_offered`: by a hub of an earlier version. */
  readonly state: 'up' | 'down' | 'not_offered'
  readonly since: Date
  /** Why it is down. */
  readonly problem: string | undefined
}

export interface HubFollower {
  /** Never resolves. */
  run(): Promise<never>
  readonly state: StreamState
}

export interface HubFollowerOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly hub: Pick<HubGateway, 'openStream' | 'identityChange'>
  /** There may be something new. */
  onManifest(this: void): void
  /** The identity whose stream said it is the one to renew; the signal aborts once another is in use. */
  onRotate(this: void, identityChange: AbortSignal): void
  /** What the hub has signed of its log: whatever came as the data of the message. */
  onCheckpoint(this: void, data: string): void
}

/** A stream that held so long was a good one: what ends it is no failure in a row. */
const STEADY_MS = 60_000

export function createHubFollower(options: HubFollowerOptions): HubFollower {
  const { clock, random, log, hub } = options
  let state: StreamState = { state: 'down', since: clock.now(), problem: undefined }
  let lastEventId: string | undefined
  let failures = 0

  const become = (next: StreamState['state'], problem?: string): void => {
    const isNews = next !== state.state || problem !== state.problem
    const since = next === state.state ? state.since : clock.now()
    state = { state: next, since, problem }
    if (next === 'up') log.info('Stream up')
    else log[isNews ? 'info' : 'debug']({ state: next, reason: problem }, 'Stream not up')
  }
  const listen = async (
    messages: AsyncIterable<StreamMessage>,
    identityChange: AbortSignal,
  ): Promise<void> => {
    become('up')
    const upSinceMs = clock.now().getTime()
    try {
      for await (const { event, id, data } of messages) {
        // The hub takes the id back as it gave it.
        lastEventId = id ?? lastEventId
        if (event === 'manifest') options.onManifest()
        else if (event === 'rotate') options.onRotate(identityChange)
        else if (event === 'checkpoint') options.onCheckpoint(data)
      }
    } finally {
      if (clock.now().getTime() - upSinceMs >= STEADY_MS) failures = 0
    }
  }
  /** How long to wait before the next one. */
  const holdOnce = async (identityChange: AbortSignal): Promise<number> => {
    try {
      const reply = await hub.openStream(lastEventId)
      if (!reply.ok) {
        const isOffered = !(reply.status === 404 && reply.code === 'route_not_found')
        become(isOffered ? 'down' : 'not_offered', describeRefusal(reply))
        return delayAfter(reply, isOffered)
      }
      await listen(reply.messages, identityChange)
      become('down', 'the hub ended the stream')
    } catch (error) {
      // Whatever it was, the agent goes on; it is shown, and tried again.
      become('down', describeError(error))
    }
    if (identityChange.aborted) {
      failures = 0
      return 0
    }
    failures += 1
    return backoffDelayMs(failures, random)
  }
  const delayAfter = ({ retryAfterMs = 0 }: HubRefusal, isOffered: boolean): number => {
    if (!isOffered) return UNKNOWN_ROUTE_AGAIN_MS * (0.9 + random() * 0.2)
    failures += 1
    return Math.max(retryAfterMs, backoffDelayMs(failures, random))
  }
  return {
    async run() {
      for (;;) {
        const identityChange = hub.identityChange()
        await waitFor(clock, await holdOnce(identityChange), identityChange)
      }
    },
    get state() {
      return state
    },
  }
}
