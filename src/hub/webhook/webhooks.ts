// All endpoints of the hub: a lane for each, the end of the log that they wait at, and what is written of their progress.

import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { createTokenBuckets } from '../../platform/token-bucket.ts'
import type { WebhookId } from '../../protocol/identifiers.ts'
import { formatTimestamp } from '../../audit/hash-chain.ts'
import type { Webhook } from '../domain/webhook.ts'
import { testMessage } from '../domain/webhook-message.ts'
import type { WebhookControl, WebhookTestResult } from '../service/webhooks/webhook-control.ts'
import { LogTail } from './log-tail.ts'
import { type DeliveryDependencies, openDelivery } from './open-delivery.ts'
import { createProgressKeeper } from './progress-keeper.ts'
import { WebhookLane } from './webhook-lane.ts'

export interface WebhooksDependencies extends DeliveryDependencies {
  readonly log: Logger
  readonly random: () => number
}

export interface Webhooks extends WebhookControl {
  /** Sends until the signal aborts, then finishes what is under way for a moment. */
  run(signal: AbortSignal): Promise<void>
}

interface RunningLane {
  readonly generation: number
  /** Resolves when it sends nothing any more. */
  stop(graceMs: number): Promise<void>
}

const TICK_MS = 200
const STOP_GRACE_MS = 2000
/** Many endpoints that catch up with a long log shall not keep the hub from its agents. */
const MESSAGES_PER_SECOND = 1000
const MESSAGES_BURST = 100

export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  let sender: Sender | undefined
  return {
    run: async (signal) => {
      sender = createSender(dependencies)
      try {
        await sender.run(signal)
      } finally {
        sender = undefined
      }
    },
    changed: async () => {
      await sender?.follow().catch((error: unknown) => {
        dependencies.log.warn({ reason: describeError(error) }, 'Webhooks not followed')
      })
    },
    test: (webhook) => sendTest(dependencies, webhook),
  }
}

/** What there is of one run: the next one begins with what is stored. */
interface Sender {
  run(signal: AbortSignal): Promise<void>
  follow(): Promise<void>
}

function createSender(dependencies: WebhooksDependencies): Sender {
  const { store, clock, log } = dependencies
  const { reader } = store
  const tail = new LogTail()
  const keeper = createProgressKeeper(store)
  const lanes = new Map<WebhookId, RunningLane>()
  const turns = createTokenBuckets({
    perSecond: MESSAGES_PER_SECOND,
    burst: MESSAGES_BURST,
    now: () => clock.now(),
  })

  const startLane = async (webhook: Webhook): Promise<RunningLane> => {
    const delivery = await openDelivery(dependencies, webhook)
    const stop = new AbortController()
    const cut = new AbortController()
    const lane = new WebhookLane(webhook, {
      ...dependencies,
      tail,
      keeper,
      delivery,
      takeTurn: () => turns.take('all'),
      stop: stop.signal,
      cut: cut.signal,
    })
    const ended = new AbortController()
    const done = lane.run().finally(() => ended.abort())
    return {
      generation: webhook.generation,
      stop: async (graceMs) => {
        stop.abort()
        await clock.sleep(graceMs, ended.signal).catch(() => undefined)
        cut.abort()
        await done
        await delivery.close()
      },
    }
  }

  /** Starts and stops lanes, so that each existing endpoint has one. */
  const followEndpoints = async (): Promise<void> => {
    const enabled = (await reader.webhooks.list()).filter(({ disabledAt }) => disabledAt === null)
    const wanted = new Map(enabled.map((webhook) => [webhook.id, webhook]))
    for (const [id, lane] of lanes) {
      if (wanted.get(id)?.generation === lane.generation) continue
      lanes.delete(id)
      await lane.stop(0)
    }
    for (const [id, webhook] of wanted) {
      if (!lanes.has(id)) lanes.set(id, await startLane(webhook))
    }
  }

  // One after the other: an endpoint has one lane at most.
  let following: Promise<void> = Promise.resolve()
  let mustFollow = true
  let isStopped = false
  const followAfter = async (earlier: Promise<void>): Promise<void> => {
    await earlier.catch(() => undefined)
    if (isStopped) return
    mustFollow = true
    await followEndpoints()
    mustFollow = false
  }
  const follow = (): Promise<void> => {
    following = followAfter(following)
    return following
  }

  const tick = async (): Promise<void> => {
    tail.advance((await reader.findChainEnd())?.seq ?? 0)
    if (mustFollow) await follow()
    await keeper.flush()
  }

  return {
    run: async (signal) => {
      let isFailing = false
      while (!signal.aborted) {
        try {
          await tick()
          isFailing = false
        } catch (error) {
          if (!isFailing) log.warn({ reason: describeError(error) }, 'Webhooks not stored')
          isFailing = true
        }
        await clock.sleep(TICK_MS, signal).catch(() => undefined)
      }
      isStopped = true
      await following.catch(() => undefined)
      await Promise.all([...lanes.values()].map((lane) => lane.stop(STOP_GRACE_MS)))
      await keeper.flush().catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'Webhooks not stored')
      })
    },
    follow,
  }
}

/** Beside the lanes, and once. */
async function sendTest(
  dependencies: WebhooksDependencies,
  webhook: Webhook,
): Promise<WebhookTestResult> {
  const { clock } = dependencies
  const startedAt = clock.now()
  const message = testMessage(webhook.id, formatTimestamp(startedAt))
  const delivery = await openDelivery(dependencies, webhook)
  try {
    const outcome = await delivery.deliver([message], new AbortController().signal)
    return {
      messageId: message.id,
      ok: outcome.kind === 'delivered',
      status: outcome.status ?? null,
      error: outcome.kind === 'delivered' ? null : outcome.error,
      durationMs: clock.now().getTime() - startedAt.getTime(),
    }
  } finally {
    await delivery.close()
  }
}
