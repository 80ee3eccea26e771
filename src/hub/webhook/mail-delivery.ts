// Messages as mails, by SMTP: one mail for many entries. docs/protocol.md WHK-31.

import type { Secret } from '../../platform/secret.ts'
import { mailText, readSmtpAnswer } from '../domain/mail-message.ts'
import { composeDigest, type NoticeSource } from '../domain/notice-digest.ts'
import type { WebhookMessage } from '../domain/webhook-message.ts'
import { attemptDelivery, type Delivery, type DeliveryOutcome } from './delivery.ts'
import { DIGEST_GATHER_MS, DIGEST_MESSAGES_MAX } from './digest-pace.ts'
import type { MailConnection, MailReply } from './mail-connection.ts'

export interface MailDeliveryOptions {
  readonly connection: MailConnection
  /** Of the user in the URL; empty where there is none. */
  readonly password: Secret<string>
  readonly notices: NoticeSource
}

/** Mail servers let strangers wait, and look at what they bring, before they answer. */
const ATTEMPT_TIMEOUT_MS = 60_000

export function createMailDelivery(options: MailDeliveryOptions): Delivery {
  const { connection, password, notices } = options
  return {
    messagesMax: DIGEST_MESSAGES_MAX,
    gatherMs: DIGEST_GATHER_MS,
    isDigest: true,
    deliver: (messages, cut) =>
      attemptDelivery(
        async (signal) => {
          const text = mailText(composeDigest(messages, notices))
          const id = messageIdOf(messages, notices.hostname)
          return judge(await connection.send({ ...text, id, password, signal }))
        },
        cut,
        ATTEMPT_TIMEOUT_MS,
      ),
    close: () => Promise.resolve(),
  }
}

function judge(reply: MailReply): DeliveryOutcome {
  const { status, error } = reply
  if (error === undefined) return { kind: 'delivered', status }
  const kind = readSmtpAnswer(status, reply.isOfLogin)
  return kind === undefined
    ? { kind: 'failed', status, error, retryAfterMs: undefined }
    : { kind, status, error }
}

/** The same for the same entries, so that a mail that comes twice can be known as one. */
function messageIdOf(messages: readonly WebhookMessage[], hostname: string): string {
  const [first, last] = [messages[0], messages.at(-1)]
  const ids = first === last ? [first] : [first, last]
  const name = ids.map((message) => message?.id.replace('msg_', '') ?? '').join('.')
  return `<${name}@${hostname.replaceAll(/[^A-Za-z0-9.-]/g, '')}>`
}
