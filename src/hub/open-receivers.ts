// What the hub connects to receivers by, whatever form they take: the same roots, and addresses as they were checked.

import type { HubConfig } from './config.ts'
import type { AddressLookup } from './outbound/address-lookup.ts'
import { openMailConnection } from './webhook/mail-connection.ts'
import type { DeliveryDependencies } from './webhook/open-delivery.ts'
import { openSyslogConnection } from './webhook/syslog-connection.ts'
import { openWebhookConnection } from './webhook/webhook-connection.ts'

export type OpenReceivers = Pick<DeliveryDependencies, 'openConnection' | 'openSyslog' | 'openMail'>

export function openReceivers(
  config: Pick<HubConfig, 'serverNames' | 'syslogPair'>,
  roots: () => readonly string[],
  lookup: AddressLookup,
): OpenReceivers {
  return {
    openConnection: (url) => openWebhookConnection({ url, rootsPem: roots(), lookup }),
    openSyslog: (receiver) =>
      openSyslogConnection({ receiver, rootsPem: roots(), lookup, ownPair: config.syslogPair }),
    openMail: (receiver) =>
      openMailConnection({
        receiver,
        rootsPem: roots(),
        lookup,
        hostname: config.serverNames[0] ?? '',
      }),
  }
}
