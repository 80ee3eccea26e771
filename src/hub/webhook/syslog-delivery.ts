// Messages to a syslog receiver over TLS. docs/protocol.md WHK-23.

import { syslogFrame } from '../domain/syslog-frame.ts'
import type { MessageSource } from '../domain/webhook-message.ts'
import { attemptDelivery, type Delivery } from './delivery.ts'
import type { SyslogConnection } from './syslog-connection.ts'

const MESSAGES_MAX = 100
const GATHER_MS = 1000

export function createSyslogDelivery(
  connection: SyslogConnection,
  source: MessageSource,
): Delivery {
  return {
    messagesMax: MESSAGES_MAX,
    gatherMs: GATHER_MS,
    isDigest: false,
    deliver: (messages, cut) =>
      attemptDelivery(async (signal) => {
        await connection.send(messages.map((each) => syslogFrame(each, source)).join(''), signal)
        return { kind: 'delivered', status: undefined }
      }, cut),
    close: () => Promise.resolve(),
  }
}
