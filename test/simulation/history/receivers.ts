// Whoever webhooks are sent to: they answer, or fail, or say nothing, or want nothing any more.

import type { WebhookConnection } from '../../../src/hub/webhook/webhook-connection.ts'
import type { Faults } from './faults.ts'
import type { Kernel, Program } from './kernel.ts'
import type { ReceivedMessage } from './webhook-model.ts'

export interface ReceiversOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  /** Told of each message that arrives, whatever is answered. */
  readonly onMessage: (message: ReceivedMessage) => Promise<void>
}

const LATENCY_MS_MAX = 400
const SILENCE_MS = 3_600_000
const RETRY_AFTER_SECONDS_MAX = 120

/** The way from the program of one hub to the receiver of a URL. */
export function connectReceiver(
  { kernel, faults, onMessage }: ReceiversOptions,
  { clock }: Program,
  { origin }: URL,
): WebhookConnection {
  const { random } = kernel
  return {
    post: async ({ headers, body, signal }) => {
      await clock.sleep(random() * LATENCY_MS_MAX, signal)
      if (faults.happens('receiver unreachable')) throw new Error('connection refused')
      await onMessage({ origin, id: headers['webhook-id'] ?? '', body })
      await clock.sleep(random() * LATENCY_MS_MAX, signal)
      if (faults.happens('receiver silent')) await clock.sleep(SILENCE_MS, signal)
      if (faults.happens('receiver reply lost')) throw new Error('reply cut short')
      if (faults.happens('receiver gone')) return { status: 410, retryAfter: undefined }
      if (!faults.happens('receiver fails')) return { status: 204, retryAfter: undefined }
      const seconds = Math.floor(random() * RETRY_AFTER_SECONDS_MAX)
      return { status: 503, retryAfter: random() < 0.5 ? String(seconds) : undefined }
    },
    close: async () => undefined,
  }
}
