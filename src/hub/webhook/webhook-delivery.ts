// One message as a signed POST, in the form of Standard Webhooks.

import type { Clock } from '../../platform/clock.ts'
import { invariant } from '../../platform/errors.ts'
import type { Secret } from '../../platform/secret.ts'
import { signMessage } from '../domain/webhook-message.ts'
import { attemptDelivery, type Delivery } from './delivery.ts'
import { judgeReply } from './judge-reply.ts'
import type { WebhookConnection } from './webhook-connection.ts'

export interface WebhookDeliveryOptions {
  readonly connection: WebhookConnection
  readonly secret: Secret<string>
  readonly clock: Clock
  readonly userAgent: string
}

export function createWebhookDelivery(options: WebhookDeliveryOptions): Delivery {
  const { connection, secret, clock, userAgent } = options
  return {
    messagesMax: 1,
    gatherMs: 0,
    isDigest: false,
    deliver: async ([message], cut) =>
      attemptDelivery(async (signal) => {
        invariant(message !== undefined, 'there is a message to send')
        const timestamp = Math.floor(clock.now().getTime() / 1000)
        const reply = await connection.post({
          headers: {
            'content-type': 'application/json',
            'user-agent': userAgent,
            'webhook-id': message.id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signMessage(secret.reveal(), message, timestamp),
          },
          body: message.body,
          signal,
        })
        return judgeReply(reply, clock.now())
      }, cut),
    close: () => connection.close(),
  }
}
