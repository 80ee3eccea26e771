// Where a certificate that the hub does not know shows a receipt. docs/protocol.md BKP-16.

import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../platform/clock.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { PresentedCertificate } from '../service/agent/authenticate-agent.ts'
import type { IdentityReceipts } from '../service/agent/identity-receipts.ts'

export interface ReceiptDesk {
  /** `header` is what the caller sent; undefined when the identity is in the vault now, else why not, for the log. */
  findFault(
    socket: TLSSocket,
    presented: PresentedCertificate,
    header: string,
  ): Promise<string | undefined>
}

/** On one connection: its handshake cost the caller and the hub more than a look at a receipt. */
const INTERVAL_MS = 10_000
const BASE64_CHARACTERS_MAX = Math.ceil((LIMITS.receiptCharactersMax * 4) / 3) + 4

export function createReceiptDesk(
  receipts: Pick<IdentityReceipts, 'examine' | 'takeBack'>,
  clock: Pick<Clock, 'now'>,
): ReceiptDesk {
  const lookedAtMs = new WeakMap<TLSSocket, number>()
  return {
    findFault: async (socket, presented, header) => {
      const nowMs = clock.now().getTime()
      const isTooSoon = Math.abs(nowMs - (lookedAtMs.get(socket) ?? -INTERVAL_MS)) < INTERVAL_MS
      if (isTooSoon || header.length > BASE64_CHARACTERS_MAX) return 'the receipt is not looked at'
      lookedAtMs.set(socket, nowMs)
      const note = Buffer.from(header, 'base64').toString()
      const found = await receipts.examine(presented.sha256, note, () => presented)
      if (!found.ok) return found.reason
      // The CA has made both, so this holds; it is the CN that authentication goes by.
      if (found.agent.hostname !== presented.commonName) return 'the receipt is of another host'
      const taken = await receipts.takeBack(found)
      return taken.ok ? undefined : taken.reason
    },
  }
}
