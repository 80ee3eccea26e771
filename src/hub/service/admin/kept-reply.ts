// A create with an Idempotency-Key is done once: its reply is kept in the very commit that does it, and a caller that asks again
// within a day, with the same key and the same request, gets that reply. docs/protocol.md API-16.

import { hash } from 'node:crypto'
import { AdminRefusal } from '../admin-act.ts'
import type { AdminOperationName } from '../../../protocol/admin/operations.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { IdempotencySecret } from './admin-context.ts'
import { createReplySeal } from './sealed-replies.ts'

const KEPT_MS = 24 * 3_600_000

export interface KeptReply {
  /** Throws AnsweredBefore when there is nothing to do. */
  refuseRepetition(reader: StoreReader, now: Date): Promise<void>
  keep(writer: StoreWriter, now: Date, reply: object): Promise<void>
}

/** Not a failure: it takes an act back that was done before. */
export class AnsweredBefore extends Error {
  override name = 'AnsweredBefore'
  readonly reply: object
  constructor(reply: object) {
    super('the request was answered before')
    this.reply = reply
  }
}

export function createKeptReply(
  secret: IdempotencySecret,
  name: AdminOperationName,
  asked: object,
): KeptReply {
  const seal = createReplySeal(secret)
  const request = hash('sha256', JSON.stringify([name, asked]), 'hex')
  return {
    refuseRepetition: async (reader, now) => {
      const found = await reader.findReply(seal.id, now)
      if (found === undefined) return
      const kept = seal.open(found.sealed) as { readonly request: string; readonly reply: object }
      if (kept.request === request) throw new AnsweredBefore(kept.reply)
      throw new AdminRefusal(
        'idempotency_key_reused',
        'this Idempotency-Key came with another request',
      )
    },
    keep: async (writer, now, reply) => {
      const expiresAt = new Date(now.getTime() + KEPT_MS)
      await writer.insertReply(
        { id: seal.id, sealed: seal.seal({ request, reply }), expiresAt },
        now,
      )
    },
  }
}
