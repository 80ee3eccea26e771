// Endpoints, and receivers that are functions, for tests of what the hub sends.

import { randomUUID } from 'node:crypto'
import type { WebhookId } from '../../src/protocol/identifiers.ts'
import { newWebhook, type Webhook } from '../../src/hub/domain/webhook.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type {
  WebhookConnection,
  WebhookReply,
  WebhookRequest,
} from '../../src/hub/webhook/webhook-connection.ts'

export const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export function sampleWebhook(content: Partial<Webhook> = {}): Webhook {
  const made = {
    id: randomUUID() as WebhookId,
    url: 'https://receiver.example/in',
    types: [],
    where: null,
    createdAt: new Date('2026-11-21T10:00:00.123Z'),
    cursorSeq: 0,
  }
  return { ...newWebhook(made), ...content }
}

export async function insertWebhook(
  store: Store,
  content: Partial<Webhook> = {},
): Promise<Webhook> {
  const webhook = sampleWebhook(content)
  await store.write((writer) => writer.webhooks.insert(webhook, WEBHOOK_SECRET))
  return webhook
}

export interface SentMessage {
  readonly id: string
  readonly type: string
  readonly seq: number
}

export type Answer = number | 'refuse' | 'hang'

export interface FakeReceiver {
  /** What it accepted, in order, doubles too. */
  readonly accepted: SentMessage[]
  /** Whatever came, accepted or not. */
  readonly attempts: SentMessage[]
  readonly open: () => WebhookConnection
}

/** Answers each message as it is told. */
export function createFakeReceiver(
  answer: (message: SentMessage, attempt: number) => Answer = () => 204,
): FakeReceiver {
  const accepted: SentMessage[] = []
  const attempts: SentMessage[] = []
  const post = async (request: WebhookRequest): Promise<WebhookReply> => {
    const message = readMessage(request)
    attempts.push(message)
    const said = answer(message, attempts.length)
    if (said === 'hang') return waitForEver(request.signal)
    if (said === 'refuse') throw new Error('connect ECONNREFUSED')
    if (said < 300) accepted.push(message)
    return { status: said, retryAfter: undefined }
  }
  return { accepted, attempts, open: () => ({ post, close: () => Promise.resolve() }) }
}

function readMessage({ headers, body }: WebhookRequest): SentMessage {
  const { type, data } = JSON.parse(body) as { type: string; data: { seq?: number } }
  return { id: headers['webhook-id'] ?? '', type, seq: data.seq ?? 0 }
}

function waitForEver(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
