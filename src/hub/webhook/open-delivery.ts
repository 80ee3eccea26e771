import type { Clock } from '../../platform/clock.ts'
import { Secret } from '../../platform/secret.ts'
import { type Receiver, receiverOf } from '../domain/receiver.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { MessageSource } from '../domain/webhook-message.ts'
import { webhookNotFound } from '../service/webhooks/find-webhook.ts'
import type { Store } from '../store/store.ts'
import type { Delivery } from './delivery.ts'
import { createOtlpDelivery } from './otlp-delivery.ts'
import type { SyslogConnection } from './syslog-connection.ts'
import { createSyslogDelivery } from './syslog-delivery.ts'
import type { WebhookConnection } from './webhook-connection.ts'
import { createWebhookDelivery } from './webhook-delivery.ts'

export interface DeliveryDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly source: MessageSource
  readonly openConnection: (url: URL) => WebhookConnection
  readonly openSyslog: (
    receiver: Extract<Receiver, { readonly format: 'syslog' }>,
  ) => SyslogConnection
}

/** In the form that the webhook's URL says. */
export async function openDelivery(
  { store, clock, source, openConnection, openSyslog }: DeliveryDependencies,
  { id, url }: Webhook,
): Promise<Delivery> {
  const found = await store.reader.webhooks.findSecret(id)
  // It may have been removed meanwhile.
  if (found === undefined) throw webhookNotFound(id)
  const receiver = receiverOf(url)
  if (receiver.format === 'syslog') return createSyslogDelivery(openSyslog(receiver), source)
  const connection = openConnection(receiver.url)
  const userAgent = `svc-server/${source.version}`
  const options = { connection, secret: new Secret(found), clock, userAgent }
  return receiver.format === 'otlp'
    ? createOtlpDelivery({ ...options, source })
    : createWebhookDelivery(options)
}
