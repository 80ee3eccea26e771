// Messages as log records to a collector of OpenTelemetry, by OTLP over HTTP. docs/protocol.md WHK-24.

import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../../platform/secret.ts'
import { findRejection, otlpLogs } from '../domain/otlp-logs.ts'
import { parseHeaders } from '../domain/receiver-headers.ts'
import type { MessageSource } from '../domain/webhook-message.ts'
import { attemptDelivery, type Delivery } from './delivery.ts'
import { judgeReply } from './judge-reply.ts'
import type { WebhookConnection } from './webhook-connection.ts'

export interface OtlpDeliveryOptions {
  readonly connection: WebhookConnection
  /** The headers that the receiver knows the hub by, a line each. */
  readonly secret: Secret<string>
  readonly source: MessageSource
  readonly clock: Clock
  readonly userAgent: string
}

const MESSAGES_MAX = 100
const GATHER_MS = 1000

export function createOtlpDelivery(options: OtlpDeliveryOptions): Delivery {
  const { connection, secret, source, clock, userAgent } = options
  return {
    messagesMax: MESSAGES_MAX,
    gatherMs: GATHER_MS,
    isDigest: false,
    deliver: (messages, cut) =>
      attemptDelivery(async (signal) => {
        const reply = await connection.post({
          headers: {
            ...parseHeaders(secret.reveal()),
            'content-type': 'application/json',
            'user-agent': userAgent,
          },
          body: otlpLogs(messages, source),
          signal,
          readsReply: true,
        })
        const outcome = judgeReply(reply, clock.now())
        const rejection = outcome.kind === 'delivered' ? findRejection(reply.body) : undefined
        if (rejection === undefined) return outcome
        const { kind, error } = rejection
        const { status } = reply
        return kind === 'rejected'
          ? { kind, status, error }
          : { kind: 'failed', status, error, retryAfterMs: undefined }
      }, cut),
    close: () => connection.close(),
  }
}
