// A create with an Idempotency-Key is done once: its reply is stored in the very commit that does it, and whoever asks
// again within a day, with the same key and the same request, gets that reply.

import { hash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin.ts'
import { ADMIN_CREATES, type AdminCreateName } from '../../protocol/admin-routes.ts'
import type { Store } from '../store/store.ts'
import type { IdempotencySecret } from './admin-caller.ts'
import { createReplySeal } from './sealed-replies.ts'

const KEPT_MS = 24 * 3_600_000

/** `operationsOn` makes the operations over a store; the creates among them are done once. */
export function createOnce(
  store: Store,
  clock: Clock,
  secret: IdempotencySecret,
  operationsOn: (store: Store) => AdminOperations,
): AdminOperations {
  const once = Object.fromEntries(
    ADMIN_CREATES.map((name) => [
      name,
      async (request: object) => {
        const remembering = rememberReply(store, clock, secret, name, request)
        const operation = operationsOn(remembering)[name] as (asked: object) => Promise<object>
        try {
          return await operation(request)
        } catch (error) {
          if (error instanceof AnsweredBefore) return error.reply
          throw error
        }
      },
    ]),
  )
  return { ...operationsOn(store), ...once }
}

/** Not a failure: it takes a create's write back, since there is nothing to do. */
class AnsweredBefore extends Error {
  override name = 'AnsweredBefore'
  readonly reply: object
  constructor(reply: object) {
    super('the request was answered before')
    this.reply = reply
  }
}

interface KeptReply {
  readonly request: string
  readonly reply: object
}

/** The store for one create, whose one write answers its reply. */
function rememberReply(
  store: Store,
  clock: Clock,
  secret: IdempotencySecret,
  name: AdminCreateName,
  asked: object,
): Store {
  const seal = createReplySeal(secret)
  const request = hash('sha256', JSON.stringify([name, asked]), 'hex')
  return {
    ...withoutWrite(store),
    write: (work) =>
      store.write(async (writer) => {
        const now = clock.now()
        const kept = await writer.findReply(seal.id, now)
        if (kept !== undefined) throw repetitionOf(seal.open(kept.sealed) as KeptReply, request)
        const reply = await work(writer)
        const content: KeptReply = { request, reply: reply as object }
        const expiresAt = new Date(now.getTime() + KEPT_MS)
        await writer.insertReply({ id: seal.id, sealed: seal.seal(content), expiresAt }, now)
        return reply
      }),
  }
}

function withoutWrite(store: Store): Omit<Store, 'write'> {
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    close: () => store.close(),
  }
}

function repetitionOf(kept: KeptReply, request: string): Error {
  if (kept.request === request) return new AnsweredBefore(kept.reply)
  return new UserError('idempotency_key_reused', 'this Idempotency-Key came with another request', {
    hint: 'each request that is to be done needs a key of its own, such as a new UUID',
  })
}
