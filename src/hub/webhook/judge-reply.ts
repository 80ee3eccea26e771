import { parseRetryAfterMs } from '../domain/webhook-retry.ts'
import type { DeliveryOutcome } from './delivery.ts'
import type { WebhookReply } from './webhook-connection.ts'

const GONE = 410

/** What the status of an answer over HTTP says. */
export function judgeReply({ status, retryAfter }: WebhookReply, now: Date): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  if (status === GONE) return { kind: 'gone', status, error: 'answered 410 Gone' }
  const isRedirect = status >= 300 && status < 400
  const error = isRedirect
    ? `answered ${status}, and the hub does not follow redirects`
    : `answered ${status}`
  const retryAfterMs = retryAfter === undefined ? undefined : parseRetryAfterMs(retryAfter, now)
  return { kind: 'failed', status, error, retryAfterMs }
}
