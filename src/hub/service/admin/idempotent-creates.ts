// A create with an Idempotency-Key is done once: its reply is stored in the very commit that does it, and whoever asks
// again within a day, with the same key and the same request, gets that reply.

import { hash } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { ADMIN_CREATES, type AdminCreateName } from '../../../protocol/admin/routes.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import type { IdempotencySecret } from './admin-caller.ts'
import { restoreReply } from '../cargo/created-deliveries.ts'
import { createReplySeal, type ReplySeal } from './sealed-replies.ts'

const KEPT_MS = 24 * 3_600_000

/** What those keys are doing now, for all requests of one hub. */
export type CreatesUnderWay = Map<string, Promise<unknown>>

/** `operationsOn` makes the operations over a store; the creates among them are done once. */
export function createOnce(
  store: Store,
  clock: Clock,
  secret: IdempotencySecret,
  operationsOn: (store: Store) => AdminOperations,
  underWay: CreatesUnderWay = new Map(),
): AdminOperations {
  const seal = createReplySeal(secret)
  const create = async (name: AdminCreateName, asked: object): Promise<object> => {
    const request = hash('sha256', JSON.stringify([name, asked]), 'hex')
    const remembering = rememberReply(store, clock, seal, request)
    const operation = operationsOn(remembering)[name] as (asked: object) => Promise<object>
    try {
      // What takes many commits does nothing that was done before.
      await refuseRepetition(store.reader, clock.now(), seal, request)
      return await operation(asked)
    } catch (error) {
      if (error instanceof AnsweredBefore) return restoreReply(store.reader, error.reply)
      throw error
    }
  }
  /** One that is asked for again while it is under way, since a connection broke, waits for its end. */
  const createInTurn = async (name: AdminCreateName, asked: object): Promise<object> => {
    const before = underWay.get(seal.id) ?? Promise.resolve()
    const own = before.then(
      () => create(name, asked),
      () => create(name, asked),
    )
    underWay.set(seal.id, own)
    try {
      return await own
    } finally {
      if (underWay.get(seal.id) === own) underWay.delete(seal.id)
    }
  }
  const once = Object.fromEntries(
    ADMIN_CREATES.map((name) => [name, (asked: object) => createInTurn(name, asked)]),
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
function rememberReply(store: Store, clock: Clock, seal: ReplySeal, request: string): Store {
  return {
    ...withoutWrite(store),
    write: (work) =>
      store.write(async (writer) => {
        const now = clock.now()
        await refuseRepetition(writer, now, seal, request)
        const reply = await work(writer)
        const content: KeptReply = { request, reply: reply as object }
        const expiresAt = new Date(now.getTime() + KEPT_MS)
        await writer.insertReply({ id: seal.id, sealed: seal.seal(content), expiresAt }, now)
        return reply
      }),
  }
}

async function refuseRepetition(
  reader: StoreReader,
  now: Date,
  seal: ReplySeal,
  request: string,
): Promise<void> {
  const kept = await reader.findReply(seal.id, now)
  if (kept !== undefined) throw repetitionOf(seal.open(kept.sealed) as KeptReply, request)
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
