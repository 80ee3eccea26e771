import { ENGLISH } from '../../explain/english.ts'
import type { Clock } from '../../platform/clock.ts'
import { Secret } from '../../platform/secret.ts'
import type { MailReceiver } from '../domain/mail-address.ts'
import { type Receiver, receiverOf } from '../domain/receiver.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { MessageSource } from '../domain/webhook-message.ts'
import { webhookNotFound } from '../service/webhooks/find-webhook.ts'
import type { Store } from '../store/store.ts'
import { createChatDelivery } from './chat-delivery.ts'
import type { Delivery } from './delivery.ts'
import type { MailConnection } from './mail-connection.ts'
import { createMailDelivery } from './mail-delivery.ts'
import { createOtlpDelivery } from './otlp-delivery.ts'
import type { SyslogConnection } from './syslog-connection.ts'
import { createSyslogDelivery } from './syslog-delivery.ts'
import type { WebhookConnection } from './webhook-connection.ts'
import { createWebhookDelivery } from './webhook-delivery.ts'

export interface DeliveryDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly source: MessageSource
  /** Where people reach the console; undefined where nobody said so. */
  readonly consoleUrl: string | undefined
  readonly openConnection: (url: URL) => WebhookConnection
  readonly openMail: (receiver: MailReceiver) => MailConnection
  readonly openSyslog: (
    receiver: Extract<Receiver, { readonly format: 'syslog' }>,
  ) => SyslogConnection
}

/** In the form that the webhook's URL says. */
export async function openDelivery(
  dependencies: DeliveryDependencies,
  { id, url }: Webhook,
): Promise<Delivery> {
  const { store, clock, source, consoleUrl, openConnection, openSyslog, openMail } = dependencies
  const found = await store.reader.webhooks.findSecret(id)
  // It may have been removed meanwhile.
  if (found === undefined) throw webhookNotFound(id)
  const receiver = receiverOf(url)
  const notices = { hostname: source.hostname, consoleUrl, language: ENGLISH }
  if (receiver.format === 'syslog') return createSyslogDelivery(openSyslog(receiver), source)
  if (receiver.format === 'mail') {
    const password = new Secret(found)
    return createMailDelivery({ connection: openMail(receiver), password, notices })
  }
  const connection = openConnection(receiver.url)
  const userAgent = `svc-server/${source.version}`
  const { format } = receiver
  if (format === 'slack' || format === 'teams') {
    return createChatDelivery({ format, connection, notices, clock, userAgent })
  }
  const options = { connection, secret: new Secret(found), clock, userAgent }
  return format === 'otlp'
    ? createOtlpDelivery({ ...options, source })
    : createWebhookDelivery(options)
}
